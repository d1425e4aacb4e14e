import type { BreakingCase } from '../breaking-case';
import { SECRET_TEXT } from '../../../faults/checker';
import { FIRST, STOPPED, STOPPED_THREAD, THREAD, messageOf, only } from '../sound-evidence';

export const leftoverCases: BreakingCase[] = [
  {
    rule: 'open-stream',
    title: 'an ended run can still be written to',
    break: ({ streams }) => void (only(streams, ({ runId }) => runId === FIRST).closed = false),
    says: /its stream is open/,
  },
  {
    rule: 'leaked-secret',
    title: 'the secrets of an ended run are kept',
    break: ({ secrets }) => void secrets.push(FIRST),
    says: /sealed secret is left/,
  },
  {
    rule: 'leaked-secret',
    title: 'secrets of a run that was never stored are kept',
    break: ({ secrets }) => void secrets.push('nobody'),
    says: /sealed secret is left/,
  },
  {
    rule: 'leaked-secret',
    title: 'a secret is in a message',
    break: (evidence) => void (messageOf(evidence, 't1').body.content = `TOKEN=${SECRET_TEXT} key-one`),
    says: /message t1 has a secret in it/,
  },
  {
    rule: 'leaked-secret',
    title: 'a secret was streamed to a reader',
    break: ({ subscriptions }) => {
      const reader = only(subscriptions, ({ runId }) => runId === STOPPED);
      only(reader.connections[0]?.frames ?? [], ({ event }) => event === 'metadata').data = `"${SECRET_TEXT}"`;
    },
    says: /steady was sent a secret/,
  },
  {
    rule: 'held-thread',
    title: 'a thread is held for an operation that is over',
    break: ({ threads }) => void (only(threads, ({ threadId }) => threadId === THREAD).hold = 'delete'),
    says: /held for delete/,
  },
  {
    rule: 'held-thread',
    title: 'a thread is busy with nothing',
    break: ({ threads }) => void (only(threads, ({ threadId }) => threadId === STOPPED_THREAD).status = 'busy'),
    says: /busy and has no open run/,
  },
  {
    rule: 'stray-process',
    title: 'a command lives on',
    break: ({ strayProcesses }) => void strayProcesses.push({ pid: 4711, command: 'sleep infinity' }),
    says: /process 4711 is left: sleep infinity/,
  },
  {
    rule: 'leaked-connection',
    title: 'a process opened more connections than its pool has',
    break: ({ connections }) =>
      void connections.push({ application: 'deerflow worker', state: 'idle', transactionMs: null }),
    says: /"deerflow worker" has 3 connections of at most 2/,
  },
  {
    rule: 'leaked-connection',
    title: 'a transaction was left open',
    break: ({ connections }) =>
      void Object.assign(
        only(connections, () => true),
        { state: 'idle in transaction', transactionMs: 60_000 },
      ),
    says: /is idle in transaction, its transaction open for 60000 ms/,
  },
];

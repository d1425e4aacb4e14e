import type { Evidence, Finding, Rule } from '../evidence';
import { SECRET_TEXT } from '../evidence';
import { groupBy } from '../grouping';

/** Longest time that a transaction of a product at rest may be open. */
const LONGEST_TRANSACTION_MS = 5_000;

function endedRuns({ runs }: Evidence): Set<string> {
  return new Set(runs.filter(({ admission }) => admission === 'ended').map(({ runId }) => runId));
}

export const closedStreams: Rule = {
  name: 'open-stream',
  promise: 'The stream of a run that has ended is closed, so that nobody can add to it.',
  check(evidence) {
    const ended = endedRuns(evidence);
    return evidence.streams
      .filter(({ runId, closed }) => ended.has(runId) && !closed)
      .map(({ runId }) => ({ subject: runId, message: 'the run has ended and its stream is open' }));
  },
};

export const keptSecrets: Rule = {
  name: 'leaked-secret',
  promise: 'The secrets of a run are in no message and no stream, and gone when it has ended.',
  check(evidence) {
    const ended = endedRuns(evidence);
    const known = new Set(evidence.runs.map(({ runId }) => runId));
    const kept = evidence.secrets
      .filter((runId) => ended.has(runId) || !known.has(runId))
      .map((runId) => ({ subject: runId, message: 'a sealed secret is left' }));
    const written = evidence.messages
      .filter(({ body }) => JSON.stringify(body).includes(SECRET_TEXT))
      .map(({ threadId, body }) => ({ subject: threadId, message: `message ${body.id} has a secret in it` }));
    const sent = evidence.subscriptions
      .filter(({ connections: all }) => all.some(({ frames }) => frames.some(({ data }) => data.includes(SECRET_TEXT))))
      .map(({ runId, reader }) => ({ subject: runId, message: `${reader} was sent a secret` }));
    return [...kept, ...written, ...sent];
  },
};

export const releasedThreads: Rule = {
  name: 'held-thread',
  promise: 'A thread without an open run is neither busy nor held.',
  check({ threads, runs }) {
    const busy = new Set(runs.filter(({ admission }) => admission !== 'ended').map(({ threadId }) => threadId));
    return threads.flatMap(({ threadId, status, hold }): Finding[] => {
      if (hold !== null) return [{ subject: threadId, message: `the thread is held for ${hold}` }];
      if (status !== 'busy' || busy.has(threadId)) return [];
      return [{ subject: threadId, message: 'the thread is busy and has no open run' }];
    });
  },
};

export const strayProcesses: Rule = {
  name: 'stray-process',
  promise: 'When all runs have ended, no process that they started is left.',
  check: ({ strayProcesses: left }) =>
    left.map(({ pid, command }) => ({ subject: null, message: `process ${pid} is left: ${command}` })),
};

export const connections: Rule = {
  name: 'leaked-connection',
  promise: 'At rest, no process has more database connections than its pool, and none has a transaction open.',
  check({ connections: open, limits }) {
    const held = open
      .filter(({ transactionMs }) => (transactionMs ?? 0) > LONGEST_TRANSACTION_MS)
      .map(({ application, state, transactionMs }) => ({
        subject: null,
        message: `a connection of "${application}" is ${state}, its transaction open for ${transactionMs} ms`,
      }));
    const tooMany = [...groupBy(open, ({ application }) => application)].flatMap(([application, ofOne]): Finding[] => {
      const limit = limits.connections[application];
      if (limit === undefined || ofOne.length <= limit) return [];
      return [{ subject: null, message: `"${application}" has ${ofOne.length} connections of at most ${limit}` }];
    });
    return [...held, ...tooMany];
  },
};

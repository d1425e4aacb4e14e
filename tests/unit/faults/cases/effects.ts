import type { BreakingCase } from '../breaking-case';
import { FIRST, messageOf, only } from '../sound-evidence';

export const effectCases: BreakingCase[] = [
  {
    rule: 'effect-at-most-once',
    title: 'a tool was run twice',
    break: ({ effects }) => void effects.push({ ...only(effects, ({ token }) => token === 'fx-one-1-0') }),
    says: /"fx-one-1-0 done" happened 2 times/,
  },
  {
    rule: 'effect-at-most-once',
    title: 'a tool that was cut off was begun again',
    break: ({ effects }) => void effects.push({ ...only(effects, ({ token }) => token === 'fx-one-2-0') }),
    says: /"fx-one-2-0 begun" happened 2 times/,
  },
  {
    rule: 'effect-without-ledger',
    title: 'a tool of a reply that was never stored was run',
    break: ({ effects }) => void effects.push({ token: 'fx-one-9-0', phase: 'done', file: 'effects.txt' }),
    says: /"fx-one-9-0" belongs to no call/,
  },
  {
    rule: 'effect-without-ledger',
    title: 'a tool was run before the ledger said that it would be',
    break: ({ toolCalls }) =>
      void Object.assign(
        only(toolCalls, () => true),
        { attempts: 0, startedAt: null },
      ),
    says: /"fx-one-1-0" happened, its call is done and was never started/,
  },
  {
    rule: 'result-without-effect',
    title: 'a result says that all went well and nothing happened',
    break: (evidence) => {
      evidence.effects = evidence.effects.filter(({ token }) => token !== 'fx-one-1-0');
    },
    says: /bash of turn 1 \(c1\) reports success, "fx-one-1-0" did not happen in full/,
  },
  {
    rule: 'result-without-effect',
    title: 'a result says that all went well and the tool was cut off',
    break: (evidence) => {
      only(evidence.effects, ({ token }) => token === 'fx-one-1-1').phase = 'begun';
    },
    says: /"fx-one-1-1" did not happen in full/,
  },
  {
    rule: 'unknown-outcome-untold',
    title: 'the result of a tool that was cut off gives no reason',
    break: (evidence) => void Object.assign(messageOf(evidence, 'u1').body, { content: 'Error: exit code 1' }),
    says: /was cut off and says "Error: exit code 1"/,
  },
  {
    rule: 'unknown-outcome-untold',
    title: 'the model is asked on and is not told',
    break: ({ modelRequests }) => void (only(modelRequests, ({ id }) => id === 'q4').unknownOutcomes = 0),
    says: /the question of turn 3 tells of 0 unknown outcomes of 1/,
  },
  {
    rule: 'call-without-result',
    title: 'a call has no result',
    break: (evidence) => {
      evidence.messages = evidence.messages.filter(({ body }) => body.id !== 't2');
    },
    says: /calls c2 of reply a1 have no result/,
  },
  {
    rule: 'call-without-result',
    title: 'a call has two results',
    break: (evidence) => {
      const fact = messageOf(evidence, 't1');
      evidence.messages.push({ ...fact, position: fact.position + 1, body: { ...fact.body, id: 'second' } });
    },
    says: /result second of call c1 is a second one/,
  },
  {
    rule: 'call-without-result',
    title: 'a result stands behind the next message',
    break: (evidence) => void (messageOf(evidence, 't3').position = 80_000),
    says: /calls c1 of reply a2 have no result/,
  },
  {
    rule: 'ledger-pending',
    title: 'a call of a run that ended in order is still planned',
    break: ({ toolCalls }) => {
      const turn = 3;
      const call = only(toolCalls, ({ runId }) => runId === FIRST);
      toolCalls.push({
        ...call,
        turn,
        messageId: 'a3',
        toolCallId: 'c9',
        state: 'planned',
        attempts: 0,
        startedAt: null,
      });
    },
    says: /bash of turn 3 \(c9\) is still planned/,
  },
];

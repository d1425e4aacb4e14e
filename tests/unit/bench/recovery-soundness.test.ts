import { faultsOf } from '../../../bench/recovery/soundness';
import type { RunEvidence } from '../../../bench/recovery/soundness';
import { quickPlan, slowPlan } from '../../../bench/recovery/plans';
import { planStep } from '../../support/fake-model/plan';

const SOUND: RunEvidence = {
  tag: 'r1',
  status: 'success',
  turns: 2,
  storedNumbers: [0, 1, 2, 3],
  runEnds: 1,
  seenNumbers: [0, 1, 2],
  seenEnd: true,
  committedAt: [1_000, 2_000],
  // The first turn was asked for twice: a worker died before its reply was stored.
  askedAt: [[500, 900], [1_500]],
  effects: [
    { turn: 1, count: 1, unknown: false },
    { turn: 2, count: 0, unknown: true },
  ],
};

test('a run that lost a worker and nothing else is sound', () => {
  expect(faultsOf(SOUND)).toEqual([]);
});

test.each<[string, Partial<RunEvidence>, RegExp]>([
  ['a run that failed', { status: 'error' }, /ended with status error/],
  ['a run that is not stored', { status: null }, /status none/],
  ['a run that ended twice', { runEnds: 2 }, /2 events that end it/],
  ['a gap in what is stored', { storedNumbers: [0, 1, 3, 4] }, /stored events: number 3 where 2 was due/],
  ['an event that the subscriber lost', { seenNumbers: [0, 2] }, /subscriber: number 2 where 1 was due/],
  ['the last event lost', { seenNumbers: [0, 1] }, /subscriber: 2 of 3/],
  ['an event that the subscriber got twice', { seenNumbers: [0, 1, 1, 2] }, /subscriber: number 1 where 2 was due/],
  ['a stream without end', { seenEnd: false }, /did not end/],
  ['a reply that is missing', { committedAt: [1_000] }, /1 replies were stored, of 2/],
  ['a stored reply that was asked for again', { askedAt: [[500, 1_001], [1_500]] }, /turn 1 was asked for again/],
  ['a reply from nowhere', { askedAt: [[500], null] }, /turn 2 has a reply that nobody asked for/],
  ['an effect that happened twice', { effects: [{ turn: 1, count: 2, unknown: true }] }, /turn 1 happened 2 times/],
  [
    'an effect that was reported and did not happen',
    { effects: [{ turn: 1, count: 0, unknown: false }] },
    /turn 1 did not happen/,
  ],
])('%s is told', (_, change, words) => {
  expect(faultsOf({ ...SOUND, ...change })).toEqual([expect.stringMatching(words)]);
});

test('the scripted model makes the runs take as many turns as their plans say, and names each effect', () => {
  const first = (question: string) =>
    planStep({ messages: [{ role: 'user', content: question }], tools: [{ function: { name: 'bash' } }] });
  expect(first(quickPlan('q1').question)).toMatchObject({ kind: 'hang', next: { toolCalls: [{ name: 'ls' }] } });
  const slow = slowPlan('s1');
  const step = first(slow.question);
  expect(step).toMatchObject({ kind: 'hang', next: { content: expect.stringMatching(/^w1 .* w22$/), delayMs: 40 } });
  expect(JSON.stringify(step)).toContain('echo s1-1 >> /mnt/user-data/workspace/appended.txt');
  expect(slow.effectTurns).toHaveLength(slow.turns - 1);
});

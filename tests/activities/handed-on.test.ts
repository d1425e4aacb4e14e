import { createNextTurns } from '../../activities/next-turns';
import { createPlannedCalls } from '../../activities/planned-calls';
import type { AiMessage } from '../../contracts';
import type { CommitResult, PlannedToolCall, StepFacts } from '../../db';

const FACTS = {
  threadId: 't',
  stepsBefore: 4,
  logSeq: 9,
  cancelAction: null,
  lastEventKind: 'text-delta',
  outcome: null,
} as unknown as StepFacts;
const COMMIT: CommitResult = { seq: 12, phaseComplete: true, position: 0, cancelAction: null };

describe('the calls of a reply', () => {
  const message = {
    id: 'reply',
    tool_calls: [{ id: 'a', name: 'ls', args: { path: '/' }, type: 'tool_call' }],
    invalid_tool_calls: [{ id: 'b', name: 'ls', args: '{', error: 'cut off', type: 'invalid_tool_call' }],
  } as unknown as AiMessage;
  const planned = (toolCallId: string, place: number): PlannedToolCall => ({
    toolCallId,
    turn: 2,
    place,
    name: 'ls',
    messageId: 'reply',
  });

  it('are handed to their first attempt as the ledger has them, and to no other', () => {
    const calls = createPlannedCalls();
    calls.put(FACTS, { runId: 'r', message, calls: [planned('a', 0), planned('b', 1)] });
    const entry = { state: 'planned', attempts: 0, turn: 2, name: 'ls', messageId: 'reply', writePlan: null };
    expect(calls.take({ runId: 'r', turn: 2, toolCallId: 'a' })).toEqual({
      facts: FACTS,
      entry: { ...entry, place: 0, args: { path: '/' }, invalid: null },
    });
    expect(calls.take({ runId: 'r', turn: 2, toolCallId: 'a' })).toBeNull();
    expect(calls.take({ runId: 'r', turn: 2, toolCallId: 'b' })?.entry).toEqual({
      ...entry,
      place: 1,
      args: null,
      invalid: message.invalid_tool_calls[0],
    });
  });

  it('are not mixed up with those of another run or turn, and the oldest go when there are too many', () => {
    const calls = createPlannedCalls(2);
    calls.put(FACTS, { runId: 'r', message, calls: [planned('a', 0), planned('b', 1), planned('c', 2)] });
    expect(calls.take({ runId: 'r', turn: 2, toolCallId: 'a' })).toBeNull();
    expect(calls.take({ runId: 'other', turn: 2, toolCallId: 'c' })).toBeNull();
    expect(calls.take({ runId: 'r', turn: 3, toolCallId: 'c' })).toBeNull();
    expect(calls.take({ runId: 'r', turn: 2, toolCallId: 'c' })).not.toBeNull();
  });
});

describe('what a tool phase hands to the next turn', () => {
  it('is the state after its commit, with a wish to cancel that came meanwhile', () => {
    const turns = createNextTurns();
    turns.put({ runId: 'r', turn: 3 }, FACTS, { ...COMMIT, cancelAction: 'interrupt' });
    expect(turns.take({ runId: 'r', turn: 3 })).toEqual({
      ...FACTS,
      stepsBefore: 5,
      logSeq: 12,
      cancelAction: 'interrupt',
      lastEventKind: null,
    });
    expect(turns.take({ runId: 'r', turn: 3 })).toBeNull();
  });

  it('is nothing after a while in which another worker may have gone on with the run', () => {
    let now = 0;
    const turns = createNextTurns({ freshMs: 100, now: () => now });
    turns.put({ runId: 'r', turn: 3 }, FACTS, COMMIT);
    now = 101;
    expect(turns.take({ runId: 'r', turn: 3 })).toBeNull();
  });
});

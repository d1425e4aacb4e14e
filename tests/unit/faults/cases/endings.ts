import { runWorkflowId } from '../../../../contracts';
import type { BreakingCase } from '../breaking-case';
import { FIRST, STOPPED, STOPPED_THREAD, THREAD, only, runOf } from '../sound-evidence';

export const endingCases: BreakingCase[] = [
  {
    rule: 'one-terminal-status',
    title: 'a run that a client was told of is not stored',
    break: ({ accepted }) => void accepted.push({ runId: 'lost', threadId: THREAD }),
    says: /accepted and is not stored/,
  },
  {
    rule: 'one-terminal-status',
    title: 'a run is still running',
    break: (evidence) => {
      Object.assign(runOf(evidence, FIRST), { status: 'running', admission: 'active', endedAt: null });
      only(evidence.workflows, ({ executionId }) => executionId === 'e2').status = 'RUNNING';
    },
    says: /has not ended: status running/,
  },
  {
    rule: 'one-terminal-status',
    title: 'a run has a terminal status and still holds its thread',
    break: (evidence) => {
      runOf(evidence, FIRST).admission = 'active';
      only(evidence.workflows, ({ executionId }) => executionId === 'e2').status = 'RUNNING';
    },
    says: /status success, admission active/,
  },
  {
    rule: 'one-terminal-status',
    title: 'the end of a run was recorded twice',
    break: ({ journal }) => {
      const end = only(journal, ({ runId, eventType }) => runId === FIRST && eventType === 'run.end');
      journal.push({ ...end, sequence: 9, eventType: 'run.error' });
    },
    says: /2 ends and 1 receipts/,
  },
  {
    rule: 'one-terminal-status',
    title: 'a run ended without a receipt',
    break: (evidence) => {
      evidence.journal = evidence.journal.filter(
        ({ eventType, runId }) => eventType !== 'run.delivery' || runId !== FIRST,
      );
    },
    says: /1 ends and 0 receipts/,
  },
  {
    rule: 'expected-status',
    title: 'a run that nobody stopped ended with an error',
    break: (evidence) => void Object.assign(runOf(evidence, FIRST), { status: 'error', errorCode: 'internal' }),
    says: /ended as error \(internal\)/,
  },
  {
    rule: 'expected-status',
    title: 'a deploy made a run look stopped by its user',
    break: (evidence) => void (runOf(evidence, FIRST).status = 'interrupted'),
    says: /ended as interrupted/,
  },
  {
    rule: 'expected-status',
    title: 'a run that was to be taken back failed for another reason',
    break: (evidence) => {
      Object.assign(runOf(evidence, STOPPED), { status: 'error', errorCode: 'orphaned' });
      only(evidence.accepted, ({ runId }) => runId === STOPPED).cancelled = 'rollback';
    },
    says: /ended as error \(orphaned\)/,
  },
  {
    rule: 'event-sequence',
    title: 'a number is missing',
    break: ({ events }) => {
      for (const event of events) if (event.runId === STOPPED && event.number > 0) event.number += 1;
    },
    says: /event 2 stands at place 1 of 3/,
  },
  {
    rule: 'event-sequence',
    title: 'an event was removed at the end of the sequence',
    break: ({ streams }) => void (only(streams, ({ runId }) => runId === STOPPED).nextNumber = 4),
    says: /3 events and the next one would be number 4/,
  },
  {
    rule: 'event-sequence',
    title: 'a run ended twice for its readers',
    break: ({ events }) => void (only(events, (one) => one.runId === STOPPED && one.number === 1).kind = 'run-end'),
    says: /2 ends/,
  },
  {
    rule: 'event-sequence',
    title: 'something was written behind the end',
    break: ({ events, streams }) => {
      events.push({ runId: STOPPED, number: 3, at: 1, kind: 'message' });
      only(streams, ({ runId }) => runId === STOPPED).nextNumber = 4;
    },
    says: /the last event is message/,
  },
  {
    rule: 'event-sequence',
    title: 'a run has ended and its readers are not told',
    break: (evidence) => {
      evidence.events = evidence.events.filter(({ runId, kind }) => runId !== STOPPED || kind !== 'run-end');
      only(evidence.streams, ({ runId }) => runId === STOPPED).nextNumber = 2;
    },
    says: /its events have no end/,
  },
  {
    rule: 'event-sequence',
    title: 'a run has no events at all',
    break: (evidence) => {
      const runId = 'bare';
      evidence.runs.push({ ...runOf(evidence, STOPPED), runId, key: null, threadId: STOPPED_THREAD, llmCallCount: 0 });
      Object.assign(runOf(evidence, runId), { inputTokens: 0, outputTokens: 0, totalTokens: 0, status: 'success' });
      evidence.streams.push({ runId, nextNumber: 0, closed: true });
      evidence.workflows.push({ ...only(evidence.workflows, () => true), workflowId: runWorkflowId(runId) });
    },
    says: /first event is missing/,
  },
];

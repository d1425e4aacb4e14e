import type { RunStatus } from '../../../../contracts';
import { hasSucceeded, isTerminal, statusAfterCancel } from '../../../../core/run-status';
import type { AcceptedRun, Evidence, Finding, Rule, RunFact } from '../evidence';
import { groupBy } from '../grouping';

export const oneTerminalStatus: Rule = {
  name: 'one-terminal-status',
  promise: 'Every accepted run is stored and has ended, once.',
  check({ accepted, runs, journal, turns }) {
    const stored = new Set(runs.map(({ runId }) => runId));
    const lost = accepted
      .filter(({ runId }) => !stored.has(runId))
      .map(({ runId }) => ({ subject: runId, message: 'the run was accepted and is not stored' }));
    const ends = groupBy(
      journal.filter(({ eventType }) => ['run.end', 'run.error'].includes(eventType)),
      ({ runId }) => runId,
    );
    const receipts = groupBy(
      journal.filter(({ eventType }) => eventType === 'run.delivery'),
      ({ runId }) => runId,
    );
    const begun = new Set(turns.map(({ runId }) => runId));
    return [
      ...lost,
      ...runs.flatMap((run): Finding[] => {
        const found = (message: string): Finding[] => [{ subject: run.runId, message }];
        if (!isTerminal(run.status as RunStatus) || run.admission !== 'ended' || run.endedAt === null) {
          return found(`the run has not ended: status ${run.status}, admission ${run.admission}`);
        }
        const counts = [ends.get(run.runId)?.length ?? 0, receipts.get(run.runId)?.length ?? 0];
        // A run that was cancelled before it began has no record of its own end.
        const fitting = counts.every((count) => count === 1) || (!begun.has(run.runId) && counts.every((n) => n === 0));
        return fitting ? [] : found(`the journal has ${counts[0]} ends and ${counts[1]} receipts of the run`);
      }),
    ];
  },
};

export const expectedStatus: Rule = {
  name: 'expected-status',
  promise: 'A run that nobody cancelled succeeds whatever died on its way, and a cancelled one says so.',
  check({ accepted, runs }) {
    const asked = new Map(accepted.map((run) => [run.runId, run]));
    return runs.flatMap((run) => {
      if (!isTerminal(run.status as RunStatus) || fits(run, asked.get(run.runId))) return [];
      return [{ subject: run.runId, message: `the run ended as ${run.status} (${run.errorCode ?? 'no error'})` }];
    });
  },
};

function fits(run: RunFact, asked: AcceptedRun | undefined): boolean {
  const { cancelled, mayFail = false } = asked ?? {};
  if (hasSucceeded(run.status as RunStatus) || mayFail) return true;
  if (cancelled === undefined || run.status !== statusAfterCancel(cancelled)) return false;
  return cancelled === 'interrupt' || run.errorCode === 'run_cancelled';
}

export const eventSequence: Rule = {
  name: 'event-sequence',
  promise: 'The events of a run are numbered without a gap, begin with its start and end with its end.',
  check(evidence) {
    const byRun = groupBy(evidence.events, ({ runId }) => runId);
    const next = new Map(evidence.streams.map(({ runId, nextNumber }) => [runId, nextNumber]));
    return evidence.runs.flatMap(({ runId, admission }) => {
      const events = byRun.get(runId) ?? [];
      const fault = sequenceFault(events, next.get(runId), admission === 'ended');
      return fault === null ? [] : [{ subject: runId, message: fault }];
    });
  },
};

function sequenceFault(events: Evidence['events'], next: number | undefined, ended: boolean): string | null {
  const gap = events.findIndex(({ number }, index) => number !== index);
  if (gap >= 0) return `event ${events[gap]?.number} stands at place ${gap} of ${events.length}`;
  if (next !== events.length) return `there are ${events.length} events and the next one would be number ${next}`;
  if (events[0]?.kind !== 'run-start') return `the first event is ${events[0]?.kind ?? 'missing'}`;
  const ends = events.filter(({ kind }) => kind === 'run-end').length;
  if (ends > 1 || (ends === 1 && events.at(-1)?.kind !== 'run-end'))
    return `${ends} ends, the last event is ${events.at(-1)?.kind}`;
  return ended && ends === 0 ? 'the run has ended and its events have no end' : null;
}

import type { Finding, Rule } from '../evidence';
import { groupBy } from '../grouping';

export const wholeEvidence: Rule = {
  name: 'blind-evidence',
  promise: 'The evidence shows all of an accepted run: what the other rules cannot see they would take for sound.',
  check({ accepted, runs, turns, subscriptions }) {
    const stored = new Map(runs.map((run) => [run.runId, run]));
    const turnsOf = groupBy(turns, ({ runId }) => runId);
    const read = new Set(subscriptions.filter(({ connections }) => connections.length > 0).map(({ runId }) => runId));
    return accepted.flatMap(({ runId }): Finding[] => {
      const run = stored.get(runId);
      if (run === undefined) return [];
      const undated = (turnsOf.get(runId) ?? []).filter(({ turn, committedAt }) => turn > 0 && committedAt === null);
      return [
        ...(run.key === null ? ['no key in its input: its questions to the model are not known'] : []),
        ...undated.map(({ turn }) => `no moment at which turn ${turn} was committed`),
        ...(read.has(runId) ? [] : ['nobody read its stream']),
      ].map((message) => ({ subject: runId, message }));
    });
  },
};

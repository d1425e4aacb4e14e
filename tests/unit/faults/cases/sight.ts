import type { BreakingCase } from '../breaking-case';
import { FIRST, STOPPED, only, runOf } from '../sound-evidence';

export const sightCases: BreakingCase[] = [
  {
    rule: 'blind-evidence',
    title: 'the key of a run is not known',
    break: (evidence) => void (runOf(evidence, FIRST).key = null),
    says: /no key in its input/,
  },
  {
    rule: 'blind-evidence',
    title: 'the moment of a commit is not known',
    break: ({ turns }) => void (only(turns, ({ messageId }) => messageId === 'a2').committedAt = null),
    says: /no moment at which turn 2 was committed/,
  },
  {
    rule: 'blind-evidence',
    title: 'nobody read a run',
    break: (evidence) => {
      evidence.subscriptions = evidence.subscriptions.filter(({ runId }) => runId !== STOPPED);
    },
    says: /nobody read its stream/,
  },
];

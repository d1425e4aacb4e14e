import type { Evidence } from '../../faults/checker';

/** One way to break one promise. */
export interface BreakingCase {
  rule: string;
  title: string;
  /** Changes sound evidence so that only the promise of the rule is broken. */
  break(evidence: Evidence): void;
  /** What the violation says. */
  says: RegExp;
}

import type { Evidence, Violation } from './evidence';
import { rules } from './rules';

/** All violations of all rules, in the order of the rules. */
export function check(evidence: Evidence): Violation[] {
  return rules.flatMap((rule) => rule.check(evidence).map((finding) => ({ rule: rule.name, ...finding })));
}

/** What the doctor says about one thing. */
export interface Finding {
  /** What was looked at: `configuration`, `database`, ... */
  about: string;
  /**
   * `refused`: the product would not start or not work. `warning`: it works, but not as somebody may expect.
   * `not_active`: accepted without an effect. `not_checked`: could not be looked at, and why.
   */
  status: 'ok' | 'warning' | 'refused' | 'not_active' | 'not_checked';
  text: string;
  /** What to do about it. */
  remedy?: string;
}

export function isHealthy(findings: readonly Finding[]): boolean {
  return findings.every(({ status }) => status !== 'refused');
}

import type { Evidence } from './evidence';

/**
 * Until when a process may still ask for what another one committed: it read before the commit that there is no reply,
 * and then stood still. Null where none did.
 */
export function lastAwakening(committedAt: number, { disturbances, limits }: Evidence): number | null {
  const ends = disturbances.filter(({ from, to }) => from <= committedAt && to >= committedAt).map(({ to }) => to);
  return ends.length === 0 ? null : Math.max(...ends) + limits.questionDelayMs;
}

/** The work that every contender does, and what the referee must have seen of it. */
import type { RefereeCounts } from '../referee';

export interface Work {
  turns: number;
  /** Marks the referee's counts of this work. */
  tag: string;
  question: string;
}

/** A listing of a folder in every turn but the last, which answers with a few words; the model never waits. */
export function workOf(turns: number, tag: string): Work {
  return { turns, tag, question: `PLAN:tools=${turns - 1} tool=ls tokens=3 tag=${tag}` };
}

/** What is wrong with the referee's counts where so many runs did this work; nothing, where all is well. */
export function brokenCounts(
  { turns, tag }: Work,
  runs: number,
  counts: Pick<RefereeCounts, 'calls' | 'complaints'>,
): string[] {
  const calls = counts.calls[tag] ?? [];
  const perTurn = Array.from({ length: Math.max(turns, calls.length) }, (_, turn) => calls[turn] ?? 0);
  const wrong = perTurn.flatMap((count, turn) => {
    const expected = turn < turns ? runs : 0;
    return count === expected ? [] : [`turn ${turn + 1} of ${tag} was asked for ${count} times in ${runs} runs`];
  });
  const [complaint] = counts.complaints;
  if (complaint !== undefined) wrong.push(`the referee refused ${counts.complaints.length} requests: ${complaint}`);
  return wrong;
}

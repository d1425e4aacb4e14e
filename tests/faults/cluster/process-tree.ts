/** Signals for a server with children that lead sessions of their own, as PostgreSQL has. */
import { readFileSync, readdirSync } from 'node:fs';

/** The process and everything below it. */
export function processTree(root: number): number[] {
  const parents = readdirSync('/proc').flatMap((name): Array<[pid: number, parent: number]> => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The name of the program stands in parentheses and may hold anything.
      return [[Number(name), Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])]];
    } catch {
      return [];
    }
  });
  const tree = [root];
  for (const pid of tree) tree.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child));
  return tree;
}

export function signalTree(root: number, signal: NodeJS.Signals): void {
  for (const pid of processTree(root)) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended meanwhile.
    }
  }
}

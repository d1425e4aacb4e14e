import type { RunOptions } from '../../contracts';

/** Nodes that a request may name in `interrupt_before` and `interrupt_after`. */
export type LoopNode = 'model' | 'tools';

function names(list: string[] | '*', node: LoopNode): boolean {
  return list === '*' || list.includes(node);
}

/** Whether the run stops between two nodes because its request asked to. */
export function stopsBetween(options: RunOptions, done: LoopNode | null, next: LoopNode): boolean {
  return (done !== null && names(options.interruptAfter, done)) || names(options.interruptBefore, next);
}

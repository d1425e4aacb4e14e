/** The work of the runs among which a worker is killed. Pure. */

export interface RecoveryPlan {
  /** Names the run to the model, and each of its effects. */
  tag: string;
  question: string;
  /** Calls of the model. */
  turns: number;
  /** Turns that ask for an effect which must not happen twice. */
  effectTurns: number[];
}

/** Few turns: the runs that begin after a kill are spread over both workers, where there are two. */
const SLOW_TOOLS = 2;
const QUICK_TOOLS = 20;

/**
 * Replies that stream for a second, too long for a workflow task, and commands that have their effect at once and take
 * half as long again.
 */
export function slowPlan(tag: string): RecoveryPlan {
  return {
    tag,
    question: `PLAN:tools=${SLOW_TOOLS} tool=append hold=0.5 say=22 tokens=22 ttft=100 gap=40 tag=${tag}`,
    turns: SLOW_TOOLS + 1,
    effectTurns: Array.from({ length: SLOW_TOOLS }, (_, index) => index + 1),
  };
}

/** A turn takes little longer than its bookkeeping: a kill often hits what lies between a reply and the next. */
export function quickPlan(tag: string): RecoveryPlan {
  return {
    tag,
    question: `PLAN:tools=${QUICK_TOOLS} tool=ls tokens=4 ttft=15 tag=${tag}`,
    turns: QUICK_TOOLS + 1,
    effectTurns: [],
  };
}

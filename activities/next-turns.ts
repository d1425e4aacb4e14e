import type { CommitResult, StepFacts } from '../db';

/**
 * Hands what the commit of a tool phase knew to the model call that follows it in the same worker, which so need not
 * read it back. Given once and only at once: while a worker was frozen, another one may have gone on with the run.
 */
export interface NextTurns {
  /** @param facts Those that the tool phase began with. */
  put(turn: { runId: string; turn: number }, facts: StepFacts, commit: CommitResult): void;
  take(turn: { runId: string; turn: number }): StepFacts | null;
}

interface Entry {
  facts: StepFacts;
  at: number;
}

export interface NextTurnsOptions {
  /** Milliseconds for which facts are as good as read. Far less than another worker needs to take a run over. */
  freshMs?: number;
  now?: () => number;
}

const FRESH_MS = 100;
/** Runs kept; those that ended are never asked for. */
const MAX_RUNS = 1_000;

export function createNextTurns(options: NextTurnsOptions = {}): NextTurns {
  const { freshMs = FRESH_MS, now = () => performance.now() } = options;
  const entries = new Map<string, Entry>();
  const nameOf = ({ runId, turn }: { runId: string; turn: number }) => `${runId}/${turn}`;
  return {
    put(turn, facts, { seq, cancelAction }) {
      const stepsBefore = facts.stepsBefore + 1;
      const after: StepFacts = { ...facts, stepsBefore, logSeq: seq, cancelAction, outcome: null, lastEventKind: null };
      entries.set(nameOf(turn), { facts: after, at: now() });
      const [oldest] = entries.keys();
      if (entries.size > MAX_RUNS && oldest !== undefined) entries.delete(oldest);
    },
    take(turn) {
      const entry = entries.get(nameOf(turn));
      entries.delete(nameOf(turn));
      return entry !== undefined && now() - entry.at <= freshMs ? entry.facts : null;
    },
  };
}

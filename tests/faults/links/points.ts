/**
 * Fault points: moments on the wire between one product process and a server. The product knows nothing of them. A link
 * asks at each operation whether somebody waits for it; then it holds the bytes until it is told what becomes of them.
 */
export type Moment = 'before' | 'after';

/** What is done with the bytes that were held: they go on, or the connection is cut and they are lost. */
export type Fate = 'pass' | 'cut';

/** An operation that goes over a link: `postgres:commit of a reply`, `temporal:RespondWorkflowTaskCompleted`. */
export interface Passage {
  operation: string;
  moment: Moment;
}

export interface Trap {
  /** Resolves when the operation is held; rejects when it was not seen within the limit. */
  readonly reached: Promise<void>;
  /** Lets the bytes go on, now or as soon as they come. */
  pass(): void;
  /** Cuts the connection; what was held is lost. */
  cut(): void;
}

export interface TrapOptions {
  /** How many passages go through before one is held. */
  skip?: number;
  timeoutMs?: number;
}

export interface Points {
  /** Holds the next such passage. */
  arm(passage: Passage, options?: TrapOptions): Trap;
  /** For links: what becomes of a passage. Undefined where nobody waits for it, which is nearly always. */
  meet(passage: Passage): Promise<Fate> | undefined;
  /** How often each operation went by, to say what there was where a point was not reached. */
  readonly seen: ReadonlyMap<string, number>;
}

interface ArmedTrap extends Passage {
  skip: number;
  hold(): Promise<Fate>;
}

const REACH_LIMIT_MS = 30_000;

export function createPoints(owner: string): Points {
  const armed = new Set<ArmedTrap>();
  const seen = new Map<string, number>();

  function arm(passage: Passage, { skip = 0, timeoutMs = REACH_LIMIT_MS }: TrapOptions = {}): Trap {
    let decide: (fate: Fate) => void = () => undefined;
    const fate = new Promise<Fate>((resolve) => (decide = resolve));
    let arrive: () => void = () => undefined;
    const reached = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        armed.delete(trap);
        const others = [...seen].map(([operation, count]) => `${operation} ${count}`).join(', ');
        reject(new Error(`${owner} did not reach "${passage.moment} ${passage.operation}". It did: ${others}`));
      }, timeoutMs);
      arrive = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    const trap: ArmedTrap = {
      ...passage,
      skip,
      hold() {
        armed.delete(trap);
        arrive();
        return fate;
      },
    };
    armed.add(trap);
    const settle = (outcome: Fate): void => {
      armed.delete(trap);
      arrive();
      decide(outcome);
    };
    return { reached, pass: () => settle('pass'), cut: () => settle('cut') };
  }

  function meet({ operation, moment }: Passage): Promise<Fate> | undefined {
    if (moment === 'before') seen.set(operation, (seen.get(operation) ?? 0) + 1);
    for (const trap of armed) {
      if (trap.operation !== operation || trap.moment !== moment) continue;
      if (trap.skip > 0) trap.skip -= 1;
      else return trap.hold();
    }
    return undefined;
  }

  return { arm, meet, seen };
}

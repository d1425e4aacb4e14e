import type { RunEvent } from '../../contracts';
import type { RunEventStore } from '../../db';

const BATCH = 200;
/** Events that a feed keeps for readers that are close behind; all others read from the database. */
const TAIL_EVENTS = 512;
const TAIL_CHARACTERS = 4 * 1024 * 1024;

/** The newest events of one run, read once for all readers in this process. */
export class RunFeed {
  private tail: RunEvent[] = [];
  private tailCharacters = 0;
  private readonly waiting = new Set<() => void>();
  private reading = false;
  private readAgain = false;
  readers = 0;

  /** @param position Number of the newest event that was in the log before the feed began. */
  constructor(
    private readonly runId: string,
    private readonly store: Pick<RunEventStore, 'read'>,
    private position: number,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** There may be new events. */
  wake(): void {
    if (this.reading) {
      this.readAgain = true;
      return;
    }
    this.reading = true;
    void this.readNew();
  }

  /** Events after a number that can be had at once: from the tail, or from the log. */
  async after(number: number): Promise<RunEvent[]> {
    if (number >= this.position) return [];
    const first = this.tail[0];
    if (first !== undefined && number >= first.number - 1) return this.tail.slice(number - first.number + 1);
    return this.store.read(this.runId, number, BATCH);
  }

  /** Resolves when there may be something after the number, when the time is over or when the signal is aborted. */
  changed(number: number, signal: AbortSignal, timeoutMs: number): Promise<void> {
    if (number < this.position || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.waiting.delete(done);
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.waiting.add(done);
      signal.addEventListener('abort', done);
    });
  }

  private async readNew(): Promise<void> {
    try {
      let more = true;
      while (more) {
        this.readAgain = false;
        const events = await this.store.read(this.runId, this.position, BATCH);
        this.keep(events);
        more = events.length === BATCH || this.readAgain;
      }
    } catch (error) {
      // The readers wait on; the next notification or poll tries again.
      this.onError(error);
    } finally {
      this.reading = false;
    }
  }

  private keep(events: RunEvent[]): void {
    const last = events.at(-1);
    if (last === undefined) return;
    this.position = last.number;
    this.tail.push(...events);
    this.tailCharacters += events.reduce((sum, event) => sum + sizeOf(event), 0);
    while (this.tail.length > TAIL_EVENTS || (this.tailCharacters > TAIL_CHARACTERS && this.tail.length > 1)) {
      const oldest = this.tail.shift();
      if (oldest !== undefined) this.tailCharacters -= sizeOf(oldest);
    }
    for (const done of [...this.waiting]) done();
  }
}

function sizeOf(event: RunEvent): number {
  return event.payload.length + (event.message?.length ?? 0);
}

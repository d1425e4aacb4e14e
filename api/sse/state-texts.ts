import type { CheckpointRow, Stores } from '../../db';
import { valuesJson } from '../state/values';
import type { FrameSources } from './frames';

/** Characters of state texts that one process keeps. */
const MAX_CACHED_CHARACTERS = 32 * 1024 * 1024;

/**
 * States at a watermark never change, so readers that stand at the same place share one text instead of each having it
 * read and written.
 */
export function createStateTexts(stores: Pick<Stores, 'log' | 'runs'>): FrameSources {
  const cached = new Map<string, { text: Promise<string>; size: number }>();
  let characters = 0;

  const forget = (key: string): void => {
    characters -= cached.get(key)?.size ?? 0;
    cached.delete(key);
  };

  async function read(threadId: string, watermark: number): Promise<string> {
    return valuesJson(await stores.log.state(threadId, watermark));
  }

  return {
    rendered: new WeakMap(),
    values({ runId, threadId }, watermark) {
      // By run: a thread's id and its watermarks may come again after it was deleted.
      const key = `${runId}:${watermark}`;
      const known = cached.get(key);
      if (known !== undefined) return known.text;
      const entry = { text: read(threadId, watermark), size: 0 };
      cached.set(key, entry);
      entry.text.then(
        (text) => {
          if (cached.get(key) !== entry) return;
          entry.size = text.length;
          characters += text.length;
          for (const oldest of cached.keys()) {
            if (characters <= MAX_CACHED_CHARACTERS) break;
            forget(oldest);
          }
        },
        () => cached.get(key) === entry && cached.delete(key),
      );
      return entry.text;
    },
    async checkpoint(threadId, watermark): Promise<CheckpointRow | null> {
      const row = await stores.log.checkpointAt(threadId, watermark);
      return row?.watermark === watermark ? row : null;
    },
    modelName: async (runId) => (await stores.runs.load(runId))?.modelName ?? null,
  };
}

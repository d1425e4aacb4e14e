import type { JsonObject } from '../../contracts';
import type { CheckpointRow, LogMessage, Stores, ThreadState } from '../../db';
import { checkpointFields } from './checkpoint-view';
import { withoutHiddenImages } from './hygiene';
import { briefValues, interruptKeys, valuesJson, visibleChannels, withKeys, withRaw } from './values';

type StateStores = Pick<Stores, 'log'>;

/** State at a checkpoint as JSON text; without one, the newest. Null where the thread has no state. */
export async function stateJson(
  { log }: StateStores,
  threadId: string,
  checkpoint?: CheckpointRow,
): Promise<string | null> {
  const row = checkpoint ?? (await log.head(threadId));
  if (row === null) return null;
  const state = await log.state(threadId, row.watermark);
  const values = withKeys(valuesJson(state), interruptKeys(row.interrupts));
  return withRaw(checkpointFields(threadId, row), 'values', values);
}

/**
 * Checkpoints, newest first. Only the first carries the whole state; the others tell what they are called. Nobody reads
 * more, and a list of a hundred states would be a hundred times the thread.
 */
export async function historyJson(
  { log }: StateStores,
  threadId: string,
  query: { limit: number; before?: string },
): Promise<string> {
  const rows = await log.history(threadId, query);
  const entries: string[] = [];
  for (const [place, row] of rows.entries()) {
    const values = place === 0 ? await newestValues(log, threadId, row) : await briefValuesJson(log, threadId, row);
    entries.push(withRaw(checkpointFields(threadId, row), 'values', values));
  }
  return `[${entries.join(',')}]`;
}

async function briefValuesJson(log: StateStores['log'], threadId: string, row: CheckpointRow): Promise<string> {
  const channels = await log.channels(threadId, row.watermark);
  return JSON.stringify(briefValues(channels, row.step >= 0));
}

async function newestValues(log: StateStores['log'], threadId: string, row: CheckpointRow): Promise<string> {
  const messages = await log.messages(threadId, row.watermark);
  const channels = await log.channels(threadId, row.watermark);
  if (messages.length === 0) return JSON.stringify(visibleChannels(channels));
  const state: ThreadState = { messages: withRunFacts(messages), channels };
  return withKeys(valuesJson(state), interruptKeys(row.interrupts));
}

/** Adds to replies and tool results which run they are of, and to a run's last reply how long the run took. */
export function withRunFacts(rows: readonly LogMessage[]): string[] {
  const messages = rows.map(({ body }) => withoutHiddenImages(JSON.parse(body) as JsonObject));
  const lastReplies = new Map<string | null, number>();
  messages.forEach((message, place) => {
    if (message['type'] === 'ai') lastReplies.set(rows[place]?.runId ?? null, place);
  });
  return messages.map((message, place) => {
    const { runId = null, runSeconds = null } = rows[place] ?? {};
    if (runId === null || (message['type'] !== 'ai' && message['type'] !== 'tool')) return JSON.stringify(message);
    const timed = runSeconds !== null && lastReplies.get(runId) === place;
    return JSON.stringify({ ...(timed ? withTurnDuration(message, runSeconds) : message), run_id: runId });
  });
}

export function withTurnDuration(message: JsonObject, seconds: number): JsonObject {
  const kwargs = message['additional_kwargs'];
  const known = kwargs !== null && typeof kwargs === 'object' && !Array.isArray(kwargs) ? kwargs : {};
  return { ...message, additional_kwargs: { ...known, turn_duration: seconds } };
}

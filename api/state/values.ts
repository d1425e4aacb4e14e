import type { JsonObject, JsonValue } from '../../contracts';
import type { ThreadState } from '../../db';
import { visibleMessage } from './hygiene';

/** Channels that clients find in every state, also before anything was written to them. */
const EMPTY_CHANNELS: JsonObject = { artifacts: [], viewed_images: {}, delegations: [], skill_context: [] };

/** Where the agent sees a thread's files. Host paths are nobody's business. */
const THREAD_DATA: JsonObject = {
  workspace_path: '/mnt/user-data/workspace',
  uploads_path: '/mnt/user-data/uploads',
  outputs_path: '/mnt/user-data/outputs',
};

const HIDDEN_CHANNEL = /^(__pregel_|messages$|thread_data$)/;

/**
 * A thread's state as JSON text. Message bodies are put in as they are stored: a state of many megabytes is not parsed
 * only to be written again.
 */
export function valuesJson(state: ThreadState): string {
  const channels = { ...EMPTY_CHANNELS, ...visibleChannels(state.channels) };
  if (state.messages.length > 0) channels['thread_data'] = THREAD_DATA;
  return withKeys(`{"messages":[${state.messages.map(visibleMessage).join(',')}]}`, channels);
}

/** The part of a state that a list of checkpoints shows of each. */
export function briefValues(channels: JsonObject, begun: boolean): JsonObject {
  const title = channels['title'];
  return { ...(title === undefined ? {} : { title }), ...(begun ? { thread_data: THREAD_DATA } : {}) };
}

export function visibleChannels(channels: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(channels).filter(([channel]) => !HIDDEN_CHANNEL.test(channel)));
}

/** Adds keys to the text of a JSON object. */
export function withKeys(objectText: string, keys: JsonObject): string {
  const addition = JSON.stringify(keys).slice(1);
  if (addition === '}') return objectText;
  const head = objectText.trimEnd().slice(0, -1);
  return `${head}${/^\s*\{\s*$/.test(head) ? '' : ','}${addition}`;
}

/** Adds a key whose value is JSON text already. */
export function withRaw(object: JsonObject, key: string, valueText: string): string {
  const head = JSON.stringify(object).slice(0, -1);
  return `${head}${head === '{' ? '' : ','}${JSON.stringify(key)}:${valueText}}`;
}

/** What a stop at a breakpoint adds to the values. */
export function interruptKeys(interrupts: JsonValue[]): JsonObject {
  return interrupts.length === 0 ? {} : { __interrupt__: interrupts };
}

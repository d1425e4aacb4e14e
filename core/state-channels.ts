/** The channels of a thread's state beside its messages. */

/** Channels that a client may set. */
const WRITABLE_CHANNELS = new Set([
  'title',
  'summary_text',
  'created_agent_name',
  'artifacts',
  'todos',
  'goal',
  'uploaded_files',
  'viewed_images',
  'promoted',
  'delegations',
  'skill_context',
  'background_tasks',
]);

/** Channels that tell where a thread works: the server's to say, and taken from nobody. */
const SERVER_CHANNELS = new Set(['sandbox', 'thread_data']);

export const MESSAGES_CHANNEL = 'messages';

export function isWritableChannel(name: string): boolean {
  return WRITABLE_CHANNELS.has(name);
}

export function isKnownChannel(name: string): boolean {
  return name === MESSAGES_CHANNEL || WRITABLE_CHANNELS.has(name) || SERVER_CHANNELS.has(name);
}

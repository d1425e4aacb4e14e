import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { createOpenAiChatModel, toClientOptions } from '../openai';
import { createMindIeChatModel } from './mindie-chat-model';
import { createPatientFetch } from './patient-fetch';
import { mindIeTimeouts, TIMEOUT_KEYS } from './timeouts';
import { mindIeToWire } from './wire-messages';

/** Whether a reply is streamed is decided by its tools, whatever the entry says. */
const OWN_KEYS = [...TIMEOUT_KEYS, 'streaming'];

export const mindIeAdapters: readonly ModelAdapter[] = [
  { uses: ['deerflow.models.mindie_provider:MindIEChatModel'], create: createModel },
];

function createModel({ entry, key, stallTimeoutMs, log }: AdapterOptions): ChatModel {
  const client = toClientOptions({ entry, key, log }, { ownKeys: OWN_KEYS, tokenLimit: 'max_tokens' });
  const timeouts = mindIeTimeouts(entry);
  // The client's own time-out covers connecting, sending and waiting for the answer to begin.
  client.fields.timeout = timeouts.connectMs + timeouts.writeMs + timeouts.readMs;
  const shared = {
    name: entry.name,
    client,
    wire: { echoReasoning: null, echoCallFields: false, vision: false },
    toWire: mindIeToWire,
    fetchImplementation: createPatientFetch(timeouts),
  };
  const silenceMs = entry['stream_chunk_timeout'] ? stallTimeoutMs : timeouts.readMs;
  return createMindIeChatModel({
    streaming: createOpenAiChatModel({ ...shared, stallTimeoutMs: silenceMs }),
    whole: createOpenAiChatModel({ ...shared, stallTimeoutMs: timeouts.readMs, whole: true }),
  });
}

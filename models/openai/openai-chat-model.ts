/**
 * Chat completions through LangChain's OpenAI client: it builds the request, authenticates and parses the stream. The
 * chunks are read here, because its own message classes drop what some servers send and re-parse long arguments with
 * every chunk.
 */
import { randomUUID } from 'node:crypto';
import { ChatOpenAICompletions } from '@langchain/openai';
import type { ChatOpenAICallOptions, OpenAIClient } from '@langchain/openai';
import type { AppError } from '../../contracts';
import { isSafetyReason } from '../../core/reply-policies';
import type { ChatModel, ModelReply, ModelRequest } from '../chat-model';
import { connectionFailure, emptyReplyFailure, providerFailure, stalledFailure } from '../failure';
import { sdkFailure } from '../sdk-failure';
import type { ClientOptions } from './client-options';
import { createEncodeMessages, holdPlace } from './message-bytes';
import type { EncodeMessages } from './message-bytes';
import { ReplyBuilder } from './reply-builder';
import { createWatchedFetch } from './watched-fetch';
import type { StreamWatch } from './watched-fetch';
import { createToWire } from './wire-messages';
import type { ToWire, WireMessagesOptions } from './wire-messages';

export interface OpenAiChatModelOptions {
  name: string;
  client: ClientOptions;
  stallTimeoutMs: number;
  /** What the server wants of earlier messages. */
  wire: Omit<WireMessagesOptions, 'model'>;
  /** Other forms of messages than those of OpenAI. */
  toWire?: ToWire;
  /** Whether the reply is asked for in one piece. */
  whole?: boolean;
  fetchImplementation?: typeof fetch;
}

type Completions = OpenAIClient.Chat.Completions.ChatCompletionCreateParamsStreaming;
type Chunk = OpenAIClient.Chat.Completions.ChatCompletionChunk;

/** Carries a reader's error through the library untouched. */
class ReaderError extends Error {
  constructor(readonly reason: unknown) {
    super('the reader failed');
  }
}

export function createOpenAiChatModel(options: OpenAiChatModelOptions): ChatModel {
  const { client, wire } = options;
  const toWire = options.toWire ?? createToWire({ model: client.fields.model ?? '', ...wire });
  const encodeMessages = createEncodeMessages(toWire);
  return {
    name: options.name,
    provider: 'openai',
    reply: (request) => attempt({ ...options, encodeMessages }, request),
  };
}

type AttemptOptions = OpenAiChatModelOptions & { encodeMessages: EncodeMessages };

async function attempt(options: AttemptOptions, request: ModelRequest): Promise<ModelReply> {
  request.signal.throwIfAborted();
  const abort = new AbortController();
  const forward = () => abort.abort();
  request.signal.addEventListener('abort', forward, { once: true });
  const watch: StreamWatch = { ended: false, problem: null };
  const builder = new ReplyBuilder();
  let stalled = false;
  let failure: unknown;
  try {
    const onStall = () => {
      stalled = true;
      abort.abort();
    };
    const { stallTimeoutMs, whole = false } = options;
    const place = holdPlace(randomUUID(), options.encodeMessages(request.system, request.messages));
    const fetchImplementation = place.fill(options.fetchImplementation ?? fetch);
    const send = createWatchedFetch({ watch, stallTimeoutMs, onStall, whole, fetchImplementation });
    const { messages } = place;
    await readReply({ options, request, messages, builder, fetch: send, signal: abort.signal });
  } catch (error) {
    if (error instanceof ReaderError) throw error.reason;
    failure = error;
  } finally {
    request.signal.removeEventListener('abort', forward);
    // Ends the connection where the reader gave up in the middle of a reply.
    abort.abort();
  }
  request.signal.throwIfAborted();
  // What came after the finish reason is only bookkeeping: the reply is complete without it.
  if (builder.finishReason === null) {
    if (stalled) throw stalledFailure(options.stallTimeoutMs);
    if (failure !== undefined || watch.problem !== null) throw classify(failure, watch, options.client.secrets);
    if (!watch.ended) throw connectionFailure('The model provider ended the reply before it was complete');
  }
  if (builder.isEmpty && !isSafetyReason(builder.finishReason)) throw emptyReplyFailure(builder.finishReason);
  return builder.build();
}

interface ReadReplyOptions {
  options: AttemptOptions;
  request: ModelRequest;
  /** What stands for the messages in what the client encodes. */
  messages: Completions['messages'];
  builder: ReplyBuilder;
  fetch: typeof fetch;
  signal: AbortSignal;
}

async function readReply(reading: ReadReplyOptions): Promise<void> {
  const { options, request, messages, builder, fetch, signal } = reading;
  const { fields } = options.client;
  // One client per attempt keeps what is watched apart; making one costs microseconds.
  const client = new ChatOpenAICompletions({ ...fields, configuration: { ...fields.configuration, fetch } });
  const body = buildRequest(client, request, messages);
  const chunks = options.whole
    ? [asChunk(await client.completionWithRetry({ ...withoutStream(body), stream: false }, { signal }))]
    : await client.completionWithRetry(body, { signal });
  for await (const chunk of chunks) {
    const delta = builder.add(chunk);
    if (delta === null || request.onDelta === undefined) continue;
    try {
      await request.onDelta(delta);
    } catch (error) {
      throw new ReaderError(error);
    }
  }
}

function buildRequest(
  client: ChatOpenAICompletions<ChatOpenAICallOptions>,
  request: ModelRequest,
  messages: Completions['messages'],
): Completions {
  const tools = request.tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters },
  }));
  const { toolChoice } = request;
  const choice =
    toolChoice === undefined ? {} : { tool_choice: { type: 'function' as const, function: { name: toolChoice } } };
  return { ...client.invocationParams({ tools, ...choice }, { streaming: true }), messages, stream: true };
}

function withoutStream({ stream_options: _, ...body }: Completions): Omit<Completions, 'stream_options'> {
  return body;
}

/** A whole reply as the one chunk of a stream. */
function asChunk(completion: OpenAIClient.Chat.Completions.ChatCompletion): Chunk {
  const choices = completion.choices.map(({ message, ...choice }) => ({ ...choice, delta: message }));
  return { ...completion, choices } as unknown as Chunk;
}

function classify(failure: unknown, watch: StreamWatch, secrets: readonly string[]): AppError {
  if (watch.problem === 'cut') return connectionFailure('The answer of the model provider was cut off');
  if (watch.problem !== null) return providerFailure(watch.problem, secrets);
  return sdkFailure(failure, secrets);
}

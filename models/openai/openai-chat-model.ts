/**
 * Chat completions through LangChain's OpenAI client: it builds the request, authenticates and parses the stream. The
 * chunks are read here, because its own message classes drop what some servers send and re-parse long arguments with
 * every chunk.
 */
import { randomUUID } from 'node:crypto';
import { ChatOpenAICompletions } from '@langchain/openai';
import type { ChatOpenAICallOptions, OpenAIClient } from '@langchain/openai';
import type { Attempt } from '../attempt';
import { requireWhole, runAttempt } from '../attempt';
import type { ChatModel, ModelReply, ModelRequest } from '../chat-model';
import type { ClientOptions } from './client-options';
import { createEncodeMessages, holdPlace } from './message-bytes';
import type { EncodeMessages } from './message-bytes';
import { ReplyBuilder } from './reply-builder';
import { classifyFailure, createWatchedFetch } from './watched-fetch';
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
  /** Whether the model may write its thoughts into its text. */
  inlineThoughts?: boolean;
  fetchImplementation?: typeof fetch;
}

type Completions = OpenAIClient.Chat.Completions.ChatCompletionCreateParamsStreaming;
type Chunk = OpenAIClient.Chat.Completions.ChatCompletionChunk;

export function createOpenAiChatModel(options: OpenAiChatModelOptions): ChatModel {
  const { client, wire } = options;
  const toWire = options.toWire ?? createToWire({ model: client.fields.model ?? '', ...wire });
  const encodeMessages = createEncodeMessages(toWire);
  return {
    name: options.name,
    provider: 'openai',
    reply: (request) => replyOnce({ ...options, encodeMessages }, request),
  };
}

type ReplyOptions = OpenAiChatModelOptions & { encodeMessages: EncodeMessages };

async function replyOnce(options: ReplyOptions, request: ModelRequest): Promise<ModelReply> {
  const watch: StreamWatch = { ended: false, problem: null };
  const builder = new ReplyBuilder(options);
  const { stallTimeoutMs } = options;
  const failure = await runAttempt({ request, stallTimeoutMs }, (attempt) =>
    readReply({ options, request, builder, watch, attempt }),
  );
  // What came after the finish reason is only bookkeeping: the reply is complete without it.
  if (builder.finishReason === null && (failure !== undefined || watch.problem !== null)) {
    throw classifyFailure(failure, watch, options.client.secrets);
  }
  const reply = builder.build();
  requireWhole(reply, watch);
  return reply;
}

interface Reading {
  options: ReplyOptions;
  request: ModelRequest;
  builder: ReplyBuilder;
  watch: StreamWatch;
  attempt: Attempt;
}

async function readReply({ options, request, builder, watch, attempt }: Reading): Promise<void> {
  const { client: clientOptions, whole = false } = options;
  const { signal, wait } = attempt;
  // The messages are encoded once and put in the place of what stands for them in what the client encodes.
  const place = holdPlace(randomUUID(), options.encodeMessages(request.system, request.messages));
  const fetchImplementation = place.fill(options.fetchImplementation ?? fetch);
  const send = createWatchedFetch({ watch, wait, whole, fetchImplementation });
  // One client per attempt keeps what is watched apart; making one costs microseconds.
  const { fields } = clientOptions;
  const client = new ChatOpenAICompletions({ ...fields, configuration: { ...fields.configuration, fetch: send } });
  const body = { ...buildRequest(client, request), ...clientOptions.body, messages: place.messages };
  const chunks = whole
    ? [asChunk(await client.completionWithRetry({ ...withoutStream(body), stream: false }, { signal }))]
    : await client.completionWithRetry({ ...body, stream: true }, { signal });
  for await (const chunk of chunks) await attempt.deliver(builder.add(chunk));
}

function buildRequest(
  client: ChatOpenAICompletions<ChatOpenAICallOptions>,
  request: ModelRequest,
): Omit<Completions, 'messages' | 'stream'> {
  const tools = request.tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters },
  }));
  const { toolChoice } = request;
  const choice =
    toolChoice === undefined ? {} : { tool_choice: { type: 'function' as const, function: { name: toolChoice } } };
  return client.invocationParams({ tools, ...choice }, { streaming: true });
}

function withoutStream<Body extends { stream_options?: unknown }>(body: Body): Omit<Body, 'stream_options'> {
  const { stream_options: _, ...rest } = body;
  return rest;
}

/** A whole reply as the one chunk of a stream. */
function asChunk(completion: OpenAIClient.Chat.Completions.ChatCompletion): Chunk {
  const choices = completion.choices.map(({ message, ...choice }) => ({ ...choice, delta: message }));
  return { ...completion, choices } as unknown as Chunk;
}

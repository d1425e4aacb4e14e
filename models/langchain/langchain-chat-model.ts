/** A model of LangChain.js behind our seam: one attempt, watched for silence, with errors of the catalogue. */
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { BaseMessage } from '@langchain/core/messages';
import { AppError } from '../../contracts';
import type { ChatModel, ModelReply, ModelRequest } from '../chat-model';
import { connectionFailure, emptyReplyFailure, stalledFailure } from '../failure';
import { sdkFailure } from '../sdk-failure';
import { ReplyCollector } from './collect-reply';
import { toLangChain } from './to-langchain';

export interface LangChainModelOptions {
  name: string;
  /** The provider's own name of the model. */
  modelName: string;
  /** Goes into stored replies: only replies of the same provider are sent back with all that came with them. */
  provider: string;
  vision: boolean;
  stallTimeoutMs: number;
  /** Texts that must never appear in an error. */
  secrets: readonly string[];
  /** Whether each whole reply says why it ended, so that one which does not was cut off. */
  saysFinish: boolean;
  /** A client for one attempt, which must not try again by itself. */
  create: () => BaseChatModel;
  /** Last changes to what is sent, such as marks for a provider's cache. */
  prepare?: (messages: BaseMessage[]) => BaseMessage[];
}

export function createLangChainChatModel(options: LangChainModelOptions): ChatModel {
  return { name: options.name, provider: options.provider, reply: (request) => attempt(options, request) };
}

/** Carries a reader's error through the library untouched. */
class ReaderError extends Error {
  constructor(readonly reason: unknown) {
    super('the reader failed');
  }
}

async function attempt(options: LangChainModelOptions, request: ModelRequest): Promise<ModelReply> {
  request.signal.throwIfAborted();
  const abort = new AbortController();
  const forward = () => abort.abort();
  request.signal.addEventListener('abort', forward, { once: true });
  const collector = new ReplyCollector(options.provider);
  let failure: unknown;
  try {
    await readReply({ options, request, collector, signal: abort.signal });
  } catch (error) {
    if (error instanceof ReaderError) throw error.reason;
    failure = error;
  } finally {
    request.signal.removeEventListener('abort', forward);
    abort.abort();
  }
  request.signal.throwIfAborted();
  if (failure !== undefined && collector.finishReason === null) throw sdkFailure(failure, options.secrets);
  if (options.saysFinish && collector.finishReason === null) {
    throw connectionFailure('The model provider ended the reply before it was complete');
  }
  if (collector.isEmpty && !isSafetyStop(collector.finishReason)) throw emptyReplyFailure(collector.finishReason);
  return collector.build(options.modelName);
}

/** An empty reply that a filter stopped is one: what becomes of it is decided elsewhere. */
function isSafetyStop(finishReason: string | null): boolean {
  return (
    finishReason !== null &&
    /^(refusal|content_filter|SAFETY|BLOCKLIST|PROHIBITED_CONTENT|SPII|RECITATION|IMAGE_)/.test(finishReason)
  );
}

interface Reading {
  options: LangChainModelOptions;
  request: ModelRequest;
  collector: ReplyCollector;
  signal: AbortSignal;
}

async function readReply({ options, request, collector, signal }: Reading): Promise<void> {
  const messages = toLangChain(request.system, request.messages, options);
  const model = withTools(options.create(), request);
  const prepared = options.prepare?.(messages) ?? messages;
  const { stallTimeoutMs } = options;
  const stream = await timed(model.stream(prepared, { signal, callbacks: [] }), stallTimeoutMs);
  const chunks = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = await timed(chunks.next(), stallTimeoutMs);
    if (next.done === true) return;
    const delta = collector.add(next.value);
    if (delta === null || request.onDelta === undefined) continue;
    try {
      await request.onDelta(delta);
    } catch (error) {
      throw new ReaderError(error);
    }
  }
}

function withTools(model: BaseChatModel, { tools, toolChoice }: ModelRequest) {
  if (tools.length === 0) return model;
  if (model.bindTools === undefined) {
    throw new AppError('configuration', 'This kind of model takes no tools: use another one for agents');
  }
  const described = tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters },
  }));
  return model.bindTools(described, toolChoice === undefined ? {} : { tool_choice: toolChoice });
}

/** The clock only runs while the provider is waited for, never while our own reader is busy. */
async function timed<Value>(wait: Promise<Value>, stallTimeoutMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(stalledFailure(stallTimeoutMs)), stallTimeoutMs);
  });
  // Whatever comes after the time is over has nobody left to hear it.
  wait.catch(() => undefined);
  try {
    return await Promise.race([wait, silence]);
  } finally {
    clearTimeout(timer);
  }
}

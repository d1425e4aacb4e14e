/**
 * OpenAI's Responses API through LangChain's client, which authenticates and parses the stream. The provider is asked to
 * keep nothing: each request carries the whole conversation, sealed thoughts included, so that a run goes on anywhere.
 * Its events are read here, because LangChain's own message classes keep one thought of a reply and lose the others.
 */
import { randomUUID } from 'node:crypto';
import { ChatOpenAIResponses } from '@langchain/openai';
import type { Attempt } from '../../attempt';
import { requireWhole, runAttempt } from '../../attempt';
import type { ChatModel, ModelReply, ModelRequest } from '../../chat-model';
import { problemFromBody } from '../../sdk-failure';
import type { ClientOptions } from '../client-options';
import { createEncodeMessages, holdPlace } from '../message-bytes';
import type { EncodeMessages } from '../message-bytes';
import { classifyFailure, createWatchedFetch } from '../watched-fetch';
import type { StreamWatch } from '../watched-fetch';
import { createInputForm, instructionsOf } from './input-items';
import { ResponseBuilder } from './response-builder';

export interface ResponsesChatModelOptions {
  name: string;
  /** Who seals the thoughts of a reply: the server and the model. */
  origin: string;
  /** Asked for with every attempt: a login may be renewed in between. */
  client: () => ClientOptions;
  stallTimeoutMs: number;
  vision: boolean;
  /** Instructions where there are none, for servers that insist on some. */
  defaultInstructions?: string;
}

type Options = ResponsesChatModelOptions & { encodeItems: EncodeMessages };

export function createResponsesChatModel(options: ResponsesChatModelOptions): ChatModel {
  const { vision } = options;
  const whole = { ...options, encodeItems: createEncodeMessages(createInputForm(options)) };
  const bare = { ...options, encodeItems: createEncodeMessages(createInputForm({ origin: null, vision })) };
  return {
    name: options.name,
    provider: 'openai',
    reply: (request) => replyOnce(whole, request, () => replyOnce(bare, request, null)),
  };
}

/**
 * A provider refuses thoughts that were sealed for another organisation, or with a key that it has changed since. Every
 * later request of the thread would be refused, too, so it is asked `withoutThoughts`.
 */
async function replyOnce(
  options: Options,
  request: ModelRequest,
  withoutThoughts: (() => Promise<ModelReply>) | null,
): Promise<ModelReply> {
  const watch: StreamWatch = { ended: false, problem: null };
  const builder = new ResponseBuilder(options.origin);
  const client = options.client();
  const failure = await runAttempt({ request, stallTimeoutMs: options.stallTimeoutMs }, (attempt) =>
    readReply({ options, client, request, builder, watch, attempt }),
  );
  if (builder.problem !== null) watch.problem = problemFromBody(builder.problem, undefined);
  if (builder.finishReason === null && (failure !== undefined || watch.problem !== null)) {
    const refused = builder.isSilent && refusesThoughts(builder.problem ?? failure);
    if (refused && withoutThoughts !== null) return withoutThoughts();
    throw classifyFailure(failure, watch, client.secrets);
  }
  const reply = builder.build();
  requireWhole(reply, { ended: false });
  return reply;
}

/** By its code, or by its words where a relay wrote the answer anew. */
function refusesThoughts(failure: unknown): boolean {
  const { code, text } = problemFromBody(failure, undefined);
  return /invalid_encrypted_content|encrypted content .{1,200} could not be verified/i.test(`${code} ${text}`);
}

interface Reading {
  options: Options;
  client: ClientOptions;
  request: ModelRequest;
  builder: ResponseBuilder;
  watch: StreamWatch;
  attempt: Attempt;
}

async function readReply({ options, client, request, builder, watch, attempt }: Reading): Promise<void> {
  const { fields, body } = client;
  const { signal, wait } = attempt;
  // The conversation is encoded once and put in the place of what stands for it in what the client encodes.
  const place = holdPlace(randomUUID(), options.encodeItems(request.system, request.messages));
  const toEvents = (response: object) => [{ type: 'response.completed', response }];
  const send = createWatchedFetch({ watch, wait, toEvents, fetchImplementation: place.fill(fetch) });
  const library = new ChatOpenAIResponses({ ...fields, configuration: { ...fields.configuration, fetch: send } });
  const instructions = instructionsOf(request.system, request.messages) || options.defaultInstructions;
  const events = await library.completionWithRetry(
    {
      model: fields.model ?? '',
      ...(fields.temperature === undefined ? {} : { temperature: fields.temperature }),
      store: false,
      ...body,
      ...(instructions === undefined ? {} : { instructions }),
      ...toolsOf(request),
      input: place.messages,
      stream: true,
    },
    { signal },
  );
  for await (const event of events) {
    await attempt.deliver(builder.add(event));
    // Some servers keep the connection open after the end.
    if (builder.isOver) return;
  }
}

/** Our schemas leave arguments out, which the provider's strict form does not allow. */
function toolsOf({ tools, toolChoice }: ModelRequest) {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({ type: 'function' as const, ...tool, strict: false })),
    ...(toolChoice === undefined ? {} : { tool_choice: { type: 'function' as const, name: toolChoice } }),
  };
}

/** A model of LangChain.js behind our seam: one attempt, watched for silence, with errors of the catalogue. */
import type { BaseChatModel, BindToolsInput } from '@langchain/core/language_models/chat_models';
import type { BaseMessage } from '@langchain/core/messages';
import { AppError } from '../../contracts';
import type { Attempt } from '../attempt';
import { requireWhole, runAttempt } from '../attempt';
import type { ChatModel, ModelReply, ModelRequest, ToolDefinition } from '../chat-model';
import { providerFailure } from '../failure';
import type { ProviderProblem } from '../failure';
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
  /** What the provider itself said, where its client throws that in a form of its own. */
  problemIn?: (failure: unknown) => ProviderProblem | null;
  /** Last changes to what is sent, such as marks for a provider's cache. */
  prepare?: (messages: BaseMessage[], request: ModelRequest) => BaseMessage[];
  /** The tools as the provider wants them; in OpenAI's form without it, which every client takes. */
  describeTools?: (tools: readonly ToolDefinition[]) => BindToolsInput[];
}

export function createLangChainChatModel(options: LangChainModelOptions): ChatModel {
  return { name: options.name, provider: options.provider, reply: (request) => replyOnce(options, request) };
}

async function replyOnce(options: LangChainModelOptions, request: ModelRequest): Promise<ModelReply> {
  const collector = new ReplyCollector(options.provider);
  const { stallTimeoutMs } = options;
  const failure = await runAttempt({ request, stallTimeoutMs }, (attempt) =>
    readReply({ options, request, collector, attempt }),
  );
  if (failure !== undefined && collector.finishReason === null) {
    const problem = options.problemIn?.(failure) ?? null;
    throw problem === null ? sdkFailure(failure, options.secrets) : providerFailure(problem, options.secrets);
  }
  const reply = collector.build(options.modelName);
  requireWhole(reply, { ended: !options.saysFinish });
  return reply;
}

interface Reading {
  options: LangChainModelOptions;
  request: ModelRequest;
  collector: ReplyCollector;
  attempt: Attempt;
}

async function readReply({ options, request, collector, attempt }: Reading): Promise<void> {
  const { signal } = attempt;
  const messages = toLangChain(request.system, request.messages, options);
  const model = withTools(options, request);
  const prepared = options.prepare?.(messages, request) ?? messages;
  const stream = await attempt.wait(model.stream(prepared, { signal, callbacks: [] }));
  const chunks = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = await attempt.wait(chunks.next());
    if (next.done === true) return;
    await attempt.deliver(collector.add(next.value));
  }
}

function withTools({ create, describeTools = inOpenAiForm }: LangChainModelOptions, request: ModelRequest) {
  const { tools, toolChoice } = request;
  const model = create();
  if (tools.length === 0) return model;
  if (model.bindTools === undefined) {
    throw new AppError('configuration', 'This kind of model takes no tools: use another one for agents');
  }
  return model.bindTools(describeTools(tools), toolChoice === undefined ? {} : { tool_choice: toolChoice });
}

function inOpenAiForm(tools: readonly ToolDefinition[]): BindToolsInput[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters },
  }));
}

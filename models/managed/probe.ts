/** Asks a managed model to call one tool, within narrow limits: whether it can be reached, streams and calls tools. */
import type { HumanMessage } from '../../contracts';
import { isAppError } from '../../contracts';
import type { Config, ModelConfig } from '../../contracts/schemas/config';
import type { ManagedModelRecord } from '../../contracts/schemas/managed-models';
import type { Logger } from '../../observability';
import type { ModelReply, ReplyDelta, ToolDefinition } from '../chat-model';
import { createChatModelFactory } from '../factory';
import { mustThink, toModelEntry } from './entry';
import { PRESETS, capabilitiesOf } from './presets';

export type ProbeMessage =
  | 'success'
  | 'tool_call_missing'
  | 'connection_failed'
  | 'missing_api_key'
  | 'authentication_failed'
  | 'output_limit_exceeded';

export interface ProbeResult {
  ok: boolean;
  message: ProbeMessage;
}

export interface ProbeOptions {
  record: ManagedModelRecord;
  config: Config;
  log: Logger;
  signal: AbortSignal;
  limits?: Partial<ProbeLimits>;
}

interface ProbeLimits {
  /** Until the provider begins to answer, and of its silence within an answer. */
  callSeconds: number;
  overallMs: number;
  chunks: number;
  /** Of text and arguments together. */
  characters: number;
}

const LIMITS: ProbeLimits = { callSeconds: 15, overallMs: 20_000, chunks: 256, characters: 16_384 };
const OUTPUT_TOKENS = 32;
/** Thinking is part of the output, and cannot be left out here. */
const THINKING_OUTPUT_TOKENS = 2_048;

const TOOL: ToolDefinition = {
  name: 'connection_check',
  description: 'Reports that the connection works.',
  parameters: { type: 'object', properties: {} },
};

/** Carried out of the stream by the model seam as it is. */
class LimitReached extends Error {}

/** Never rejects, and never tells what a provider said: it may quote keys, addresses and bodies. */
export async function probeManagedModel(options: ProbeOptions): Promise<ProbeResult> {
  const { record } = options;
  if (PRESETS[record.provider].needsKey && !record.api_key) return outcome('missing_api_key');
  try {
    return outcome(judge(await ask(options)));
  } catch (error) {
    if (error instanceof LimitReached) return outcome('output_limit_exceeded');
    if (isAppError(error, 'model_auth')) return outcome('authentication_failed');
    if (isAppError(error, 'model_empty_reply')) return outcome(emptyReply(error.message));
    return outcome('connection_failed');
  }
}

async function ask({ record, config, log, signal, limits }: ProbeOptions): Promise<ModelReply> {
  const { callSeconds, overallMs, chunks, characters } = { ...LIMITS, ...limits };
  const entry = toModelEntry(record);
  const required = mustThink(entry);
  const models = [probeEntry(entry, required, callSeconds)];
  const model = createChatModelFactory({ config: { ...config, models }, log }).resolve(
    entry.name,
    required ? undefined : { thinking: false, effort: null },
  );
  const overall = AbortSignal.any([signal, AbortSignal.timeout(overallMs)]);
  return model.reply({
    system: 'This is a check of the connection.',
    messages: [question()],
    tools: [TOOL],
    ...(forcesTool(record, required) ? { toolChoice: TOOL.name } : {}),
    signal: overall,
    onDelta: countingReader(chunks, characters),
  });
}

function probeEntry(entry: ModelConfig, required: boolean, callSeconds: number): ModelConfig {
  return {
    ...entry,
    max_tokens: required ? THINKING_OUTPUT_TOKENS : OUTPUT_TOKENS,
    timeout: callSeconds,
    stream_chunk_timeout: callSeconds,
    max_retries: 0,
  };
}

function forcesTool({ provider, model }: ManagedModelRecord, required: boolean): boolean {
  if (required) return false;
  return PRESETS[provider].forcesTools || capabilitiesOf(provider, model) !== null;
}

function countingReader(maxChunks: number, maxCharacters: number): (delta: ReplyDelta) => void {
  let chunks = 0;
  let characters = 0;
  return ({ content, toolCallChunks }) => {
    chunks += 1;
    characters += content.length + toolCallChunks.reduce((sum, { args }) => sum + (args?.length ?? 0), 0);
    if (chunks > maxChunks || characters > maxCharacters) throw new LimitReached();
  };
}

function judge({ toolCalls, finishReason }: ModelReply): ProbeMessage {
  const called = toolCalls.some(({ name, args }) => name === TOOL.name && isEmptyObject(args));
  if (called) return 'success';
  return finishReason === 'length' ? 'output_limit_exceeded' : 'tool_call_missing';
}

/** A model that spent its output on thinking ends with nothing but the reason. */
function emptyReply(text: string): ProbeMessage {
  return /finish reason (length|max_tokens)/.test(text) ? 'output_limit_exceeded' : 'tool_call_missing';
}

function isEmptyObject(args: string): boolean {
  if (args.trim() === '') return true;
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  } catch {
    return false;
  }
}

function outcome(message: ProbeMessage): ProbeResult {
  return { ok: message === 'success', message };
}

function question(): HumanMessage {
  return {
    type: 'human',
    id: 'connection-check',
    content: 'Call connection_check.',
    additional_kwargs: {},
    response_metadata: {},
    name: null,
  };
}

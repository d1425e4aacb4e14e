/** Puts a reply together from the chunks of a LangChain.js model, and says what is new in each. */
import type { AIMessageChunk } from '@langchain/core/messages';
import type { JsonObject, UsageMetadata } from '../../contracts';
import type { ModelReply, RawToolCall, ReplyDelta, ToolCallChunk } from '../chat-model';
import { PROVIDER_CONTENT } from './to-langchain';

type Block = Record<string, unknown>;

interface CallPart {
  index?: unknown;
  id?: string;
  name?: string;
  args?: string;
}

/** Blocks of calls: the calls themselves are kept as such. */
const CALL_BLOCKS = ['tool_use', 'input_json_delta', 'functionCall', 'tool_call', 'tool_call_chunk'];

export class ReplyCollector {
  private whole: AIMessageChunk | null = null;
  private readonly positions = new Map<unknown, number>();
  private readonly calls: RawToolCall[] = [];
  private reasoning = '';

  constructor(private readonly provider: string) {}

  add(chunk: AIMessageChunk): ReplyDelta | null {
    this.whole = this.whole === null ? chunk : this.whole.concat(chunk);
    const content = textIn(chunk.content);
    const reasoning = reasoningIn(chunk);
    const toolCallChunks = callsIn(chunk).map((part) => this.addCall(part));
    this.reasoning += reasoning;
    if (content === '' && reasoning === '' && toolCallChunks.length === 0) return null;
    return { content, toolCallChunks, additionalKwargs: reasoning === '' ? {} : { reasoning_content: reasoning } };
  }

  get finishReason(): string | null {
    const metadata: Block = { ...this.whole?.additional_kwargs, ...this.whole?.response_metadata };
    const names = ['finish_reason', 'stop_reason', 'finishReason', 'done_reason'];
    const found = names.map((name) => metadata[name]).find((value) => typeof value === 'string' && value !== '');
    return typeof found === 'string' ? found : null;
  }

  build(modelName: string): ModelReply {
    const { finishReason } = this;
    const blocks = providerBlocks(this.whole?.content ?? '');
    const kwargs = plain(this.whole?.additional_kwargs ?? {});
    for (const name of ['tool_calls', 'stop_reason', 'stop_sequence', 'id', 'type', 'role', 'usage'])
      delete kwargs[name];
    const metadata: JsonObject = { model_provider: this.provider, model_name: modelName };
    if (finishReason !== null) Object.assign(metadata, { finish_reason: finishReason, stop_reason: finishReason });
    return {
      content: textIn(this.whole?.content ?? ''),
      toolCalls: this.calls.map((call) => ({ ...call })),
      usage: usageOf(this.whole?.usage_metadata),
      finishReason,
      additionalKwargs: {
        ...kwargs,
        ...(this.reasoning === '' ? {} : { reasoning_content: this.reasoning }),
        ...(blocks === null ? {} : { [PROVIDER_CONTENT]: blocks }),
      },
      responseMetadata: metadata,
    };
  }

  private addCall(part: CallPart): ToolCallChunk {
    // Some providers number their calls, some send each whole and unnumbered, and some give all of them one number.
    const known = part.index === undefined ? undefined : this.positions.get(part.index);
    const knownId = known === undefined ? null : this.calls[known]?.id;
    const isAnother = part.id !== undefined && typeof knownId === 'string' && part.id !== knownId;
    const position = known === undefined || isAnother ? this.calls.length : known;
    if (part.index !== undefined) this.positions.set(part.index, position);
    const call = this.calls[position] ?? { id: null, name: null, args: '' };
    const id = call.id === null ? (part.id ?? null) : null;
    const name = call.name === null ? (part.name ?? null) : null;
    this.calls[position] = { id: call.id ?? id, name: call.name ?? name, args: call.args + (part.args ?? '') };
    return { index: position, id, name, args: part.args ?? null };
  }
}

/** Clients that cannot stream give a whole message in place of its parts, with whole calls. */
function callsIn(message: Partial<AIMessageChunk>): CallPart[] {
  const { tool_call_chunks: parts, tool_calls: calls = [], invalid_tool_calls: invalid = [] } = message;
  return parts ?? [...calls.map((call) => ({ ...call, args: JSON.stringify(call.args) })), ...invalid];
}

function blocksOf(content: unknown): Block[] {
  return Array.isArray(content) ? content.filter((block): block is Block => block instanceof Object) : [];
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return blocksOf(content)
    .filter(({ type }) => type === 'text' || type === 'text_delta' || type === undefined)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

function reasoningIn(chunk: AIMessageChunk): string {
  const said: unknown = chunk.additional_kwargs['reasoning_content'];
  if (typeof said === 'string') return said;
  return blocksOf(chunk.content)
    .map(({ thinking, reasoning }) => [thinking, reasoning].find((value) => typeof value === 'string') ?? '')
    .join('');
}

/** What is more than text: it goes back to the provider as it came. Null where the text says it all. */
function providerBlocks(content: unknown): JsonObject[] | null {
  const blocks = blocksOf(content).filter(({ type }) => !CALL_BLOCKS.includes(String(type)));
  if (blocks.every(({ type }) => type === 'text' || type === undefined)) return null;
  const kept: JsonObject[] = [];
  for (const block of blocks) {
    const { index: _index, ...rest } = plain(block);
    const last = kept.at(-1);
    // Some clients leave a text in the pieces in which it was streamed.
    if (last !== undefined && isTextOnly(last) && isTextOnly(rest)) last['text'] = `${last['text']}${rest['text']}`;
    else kept.push(rest);
  }
  return kept;
}

function isTextOnly(block: JsonObject): block is { type: 'text'; text: string } {
  return block['type'] === 'text' && typeof block['text'] === 'string' && Object.keys(block).length === 2;
}

/** JSON data alone, as it can be stored. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function usageOf(usage: AIMessageChunk['usage_metadata']): UsageMetadata | null {
  if (usage === undefined) return null;
  const [input, output, total] = [usage.input_tokens, usage.output_tokens, usage.total_tokens].map(count);
  if (!input && !output) return null;
  const { input_token_details, output_token_details } = usage;
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    total_tokens: total || (input ?? 0) + (output ?? 0),
    ...(input_token_details === undefined ? {} : { input_token_details: plain(input_token_details) }),
    ...(output_token_details === undefined ? {} : { output_token_details: plain(output_token_details) }),
  };
}

/** Totals are whole numbers, whatever a client makes of an answer. */
function count(value: number): number {
  return Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

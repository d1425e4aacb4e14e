/**
 * Puts a streamed reply together. Servers differ in what they send: missing or repeated indexes, ids and names,
 * arguments as objects, content as blocks. The result is uniform, and nothing is parsed or judged here.
 */
import type { OpenAIClient } from '@langchain/openai';
import type { JsonObject, UsageMetadata } from '../../contracts';
import type { ModelReply, RawToolCall, ReplyDelta, ToolCallChunk } from '../chat-model';
import { readUsage, textOrNull } from './answer-fields';
import { ThoughtSplitter } from './inline-thoughts';
import { CALL_FIELDS } from './wire-messages';

type Chunk = OpenAIClient.Chat.Completions.ChatCompletionChunk;

interface ToolCallFragment {
  /** What some servers want back with the call. */
  thought_signature?: unknown;
  thoughtSignature?: unknown;
  extra_content?: unknown;
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
}

export class ReplyBuilder {
  finishReason: string | null = null;
  private content = '';
  private reasoning = '';
  private usage: UsageMetadata | null = null;
  private readonly calls: RawToolCall[] = [];
  /** Index as the server counts to position in `calls`. */
  private readonly positions = new Map<unknown, number>();
  /** What came beside the calls, by their position. */
  private readonly callFields = new Map<number, JsonObject>();
  private modelName: string | null = null;
  private fingerprint: string | null = null;
  private readonly splitter: ThoughtSplitter | null;

  /** `inlineThoughts` says that the model may write its thoughts into its text. */
  constructor({ inlineThoughts = false } = {}) {
    this.splitter = inlineThoughts ? new ThoughtSplitter() : null;
  }

  /** Takes the next chunk and returns what is new in it, or null. */
  add(chunk: Chunk): ReplyDelta | null {
    this.modelName = textOrNull(chunk.model) ?? this.modelName;
    this.fingerprint = textOrNull(chunk.system_fingerprint) ?? this.fingerprint;
    // Where several come, each is what was used so far: the last one counts.
    this.usage = readUsage(chunk.usage, ['prompt', 'completion']) ?? this.usage;
    const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) return null;
    this.finishReason = textOrNull(choice.finish_reason) ?? this.finishReason;
    const delta: Record<string, unknown> = { ...choice.delta };
    const apart =
      readContent(delta.reasoning_content) || readContent(delta.reasoning) || readContent(delta.reasoning_details);
    const { content, reasoning } = this.split(readContent(delta.content) + readContent(delta.refusal), apart);
    const fragments: unknown[] = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
    const toolCallChunks = fragments.flatMap((fragment) => this.addCall(fragment));
    this.content += content;
    this.reasoning += reasoning;
    if (content === '' && reasoning === '' && toolCallChunks.length === 0) return null;
    return { content, toolCallChunks, additionalKwargs: reasoning === '' ? {} : { reasoning_content: reasoning } };
  }

  build(): ModelReply {
    const responseMetadata: JsonObject = { model_provider: 'openai' };
    if (this.finishReason !== null) responseMetadata.finish_reason = this.finishReason;
    if (this.modelName !== null) responseMetadata.model_name = this.modelName;
    if (this.fingerprint !== null) responseMetadata.system_fingerprint = this.fingerprint;
    return {
      content: this.content,
      toolCalls: this.calls.map((call) => ({ ...call })),
      usage: this.usage,
      finishReason: this.finishReason,
      additionalKwargs: {
        ...(this.reasoning === '' ? {} : { reasoning_content: this.reasoning }),
        ...(this.callFields.size === 0 ? {} : { [CALL_FIELDS]: this.fieldsById() }),
      },
      responseMetadata,
    };
  }

  private split(text: string, apart: string): { content: string; reasoning: string } {
    if (this.splitter === null) return { content: text, reasoning: apart };
    const known = this.splitter.take(text);
    const rest = this.finishReason === null ? null : this.splitter.end();
    return {
      content: known.content + (rest?.content ?? ''),
      reasoning: apart + known.reasoning + (rest?.reasoning ?? ''),
    };
  }

  private addCall(fragment: unknown): ToolCallChunk[] {
    if (typeof fragment !== 'object' || fragment === null) return [];
    const { index, id: rawId, function: called, ...beside }: ToolCallFragment = fragment;
    const id = textOrNull(rawId);
    const name = textOrNull(called?.name);
    const args = readArguments(called?.arguments);
    const position = this.positionOf(index, id, name);
    const call = this.calls[position] ?? { id: null, name: null, args: '' };
    const chunk: ToolCallChunk = {
      index: position,
      // Some servers repeat id and name in every fragment; readers concatenate, so each goes out once.
      id: call.id === null ? id : null,
      name: call.name === null ? name : null,
      args,
    };
    this.calls[position] = { id: call.id ?? id, name: call.name ?? name, args: call.args + (args ?? '') };
    this.keepFields(position, beside);
    return [chunk];
  }

  private keepFields(position: number, beside: Omit<ToolCallFragment, 'index' | 'id' | 'function'>): void {
    const signature = beside.thought_signature ?? beside.thoughtSignature;
    const fields = {
      ...(typeof signature === 'string' ? { thought_signature: signature } : {}),
      ...(beside.extra_content instanceof Object ? { extra_content: beside.extra_content as JsonObject } : {}),
    };
    if (Object.keys(fields).length === 0) return;
    this.callFields.set(position, { ...this.callFields.get(position), ...fields });
  }

  private fieldsById(): JsonObject {
    const known = [...this.callFields].map(([position, fields]) => [this.calls[position]?.id ?? '', fields] as const);
    return Object.fromEntries(known.filter(([id]) => id !== ''));
  }

  /** A fragment goes on with the call of its index, unless it brings another call's id or there is no such call. */
  private positionOf(index: unknown, id: string | null, name: string | null): number {
    const last = this.calls.length - 1;
    const known = index === undefined || index === null ? last : (this.positions.get(index) ?? -1);
    const current = this.calls[known];
    const differs = id !== null && current !== undefined && current.id !== null && current.id !== id;
    const unnumbered = index === undefined || index === null;
    const another = differs || (unnumbered && name !== null && id === null && current?.name !== null);
    if (current !== undefined && !(another && name !== null)) return known;
    const position = this.calls.length;
    this.positions.set(index, position);
    return position;
  }
}

function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block: unknown) => readBlock(block)).join('');
}

function readBlock(block: unknown): string {
  if (typeof block === 'string') return block;
  if (typeof block !== 'object' || block === null || !('text' in block)) return '';
  return typeof block.text === 'string' ? block.text : '';
}

function readArguments(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Puts a reply together from the events of a stream. Some servers stream all, some only whole items, and some say
 * everything at the end: what was said already is not said again.
 */
import type { JsonObject, UsageMetadata } from '../../../contracts';
import type { ModelReply, RawToolCall, ReplyDelta, ToolCallChunk } from '../../chat-model';
import { fieldsOf, readUsage, textOrNull } from '../answer-fields';
import { keepItems, MESSAGE_GAP, RESPONSE_ITEMS } from './kept-items';

type Fields = Readonly<Record<string, unknown>>;

export class ResponseBuilder {
  finishReason: string | null = null;
  /** The error that the provider ended the reply with. */
  problem: unknown = null;
  private content = '';
  private reasoning = '';
  private usage: UsageMetadata | null = null;
  private modelName: string | null = null;
  private readonly calls: RawToolCall[] = [];
  /** Place of an item in the output to position in `calls`. */
  private readonly positions = new Map<number, number>();
  /** Items that are whole, by their place. */
  private readonly items = new Map<number, Fields>();
  /** Items of which something was streamed. */
  private readonly heard = new Set<number>();

  constructor(private readonly origin: string) {}

  /** Takes the next event and returns what is new in it, or null. */
  add(event: unknown): ReplyDelta | null {
    const fields = fieldsOf(event);
    const place = typeof fields['output_index'] === 'number' ? fields['output_index'] : 0;
    const delta = textIn(fields['delta']);
    switch (fields['type']) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.say(place, delta);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.think(place, delta);
      case 'response.reasoning_summary_part.added':
        return this.reasoning === '' ? null : this.think(place, '\n\n');
      case 'response.output_item.added':
        return fieldsOf(fields['item'])['type'] === 'function_call'
          ? this.call(place, fieldsOf(fields['item']), '')
          : null;
      case 'response.function_call_arguments.delta':
        return this.call(place, {}, delta);
      case 'response.output_item.done':
        return this.finishItem(place, fieldsOf(fields['item']));
      case 'response.completed':
      case 'response.incomplete':
        return this.finish(fieldsOf(fields['response']));
      case 'response.failed':
        this.problem = fieldsOf(fields['response'])['error'] ?? 'the reply failed';
        return null;
      case 'error':
        this.problem = fields['error'] ?? { message: fields['message'], code: fields['code'] };
        return null;
      default:
        return null;
    }
  }

  /** Whether nothing more is to come. */
  get isOver(): boolean {
    return this.finishReason !== null || this.problem !== null;
  }

  /** Whether the reader has got nothing yet. */
  get isSilent(): boolean {
    return this.heard.size === 0 && this.calls.length === 0;
  }

  build(): ModelReply {
    const output = [...this.items].sort(([one], [other]) => one - other).map(([, item]) => item);
    const kept = keepItems(output, this.origin);
    const responseMetadata: JsonObject = { model_provider: 'openai' };
    if (this.finishReason !== null) responseMetadata['finish_reason'] = this.finishReason;
    if (this.modelName !== null) responseMetadata['model_name'] = this.modelName;
    return {
      content: this.content,
      toolCalls: this.calls.map((call) => ({ ...call })),
      usage: this.usage,
      finishReason: this.finishReason,
      additionalKwargs: {
        ...(this.reasoning === '' ? {} : { reasoning_content: this.reasoning }),
        ...(kept === null ? {} : { [RESPONSE_ITEMS]: kept }),
      },
      responseMetadata,
    };
  }

  private say(place: number, text: string): ReplyDelta | null {
    if (text === '') return null;
    const isNext = this.content !== '' && !this.heard.has(place);
    const content = isNext ? MESSAGE_GAP + text : text;
    this.heard.add(place);
    this.content += content;
    return { content, toolCallChunks: [], additionalKwargs: {} };
  }

  private think(place: number, text: string): ReplyDelta | null {
    if (text === '') return null;
    this.heard.add(place);
    this.reasoning += text;
    return { content: '', toolCallChunks: [], additionalKwargs: { reasoning_content: text } };
  }

  private call(place: number, item: Fields, args: string): ReplyDelta | null {
    const known = this.positions.get(place);
    const index = known ?? this.calls.length;
    const call = this.calls[index] ?? { id: null, name: null, args: '' };
    const id = call.id === null ? textOrNull(item['call_id']) : null;
    const name = call.name === null ? textOrNull(item['name']) : null;
    this.positions.set(place, index);
    this.calls[index] = { id: call.id ?? id, name: call.name ?? name, args: call.args + args };
    const chunk: ToolCallChunk = { index, id, name, args: args === '' ? null : args };
    return { content: '', toolCallChunks: [chunk], additionalKwargs: {} };
  }

  private finishItem(place: number, item: Fields): ReplyDelta | null {
    if (this.items.has(place)) return null;
    this.items.set(place, item);
    const isNew = !this.heard.has(place);
    switch (item['type']) {
      case 'message':
        return isNew ? this.say(place, textsIn(item['content'])) : null;
      case 'reasoning':
        return isNew ? this.think(place, textsIn(item['summary'], '\n\n') || textsIn(item['content'])) : null;
      case 'function_call': {
        const known = this.calls[this.positions.get(place) ?? -1];
        if (known !== undefined && known.args !== '') return null;
        return this.call(place, item, textIn(item['arguments']));
      }
      default:
        return null;
    }
  }

  private finish(response: Fields): ReplyDelta | null {
    const output: unknown[] = Array.isArray(response['output']) ? response['output'] : [];
    const deltas = output.map((item, place) => this.finishItem(place, fieldsOf(item)));
    this.usage = readUsage(response['usage'], ['input', 'output']);
    this.modelName = textOrNull(response['model']);
    const cut = textOrNull(fieldsOf(response['incomplete_details'])['reason']);
    const whole = this.calls.length > 0 ? 'tool_calls' : 'stop';
    this.finishReason = cut === null ? whole : cut === 'max_output_tokens' ? 'length' : cut;
    return joined(deltas);
  }
}

function joined(deltas: ReadonlyArray<ReplyDelta | null>): ReplyDelta | null {
  const said = deltas.filter((delta) => delta !== null);
  if (said.length === 0) return null;
  const reasoning = said.map(({ additionalKwargs }) => textIn(additionalKwargs['reasoning_content'])).join('');
  return {
    content: said.map(({ content }) => content).join(''),
    toolCallChunks: said.flatMap(({ toolCallChunks }) => toolCallChunks),
    additionalKwargs: reasoning === '' ? {} : { reasoning_content: reasoning },
  };
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Texts of parts, refusals included. */
function textsIn(parts: unknown, separator = ''): string {
  if (!Array.isArray(parts)) return '';
  const texts = parts.map(fieldsOf).map((part) => textIn(part['text']) || textIn(part['refusal']));
  return texts.filter((text) => text !== '').join(separator);
}

/** The words of a script: each is what the fake provider does with one request. */
import type { WireToolCall, WireUsage } from '../../../models/demo/completion-wire';

export interface ReplyStep {
  kind: 'reply';
  content: string;
  /** The text in the pieces in which it is streamed. */
  pieces: string[];
  toolCalls: WireToolCall[];
  usage: WireUsage;
  finishReason: string | null;
  reasoning?: string;
  /** Pause before each piece. */
  delayMs: number;
  /** Pieces per second, kept over the whole reply, where no pause is given. */
  perSecond?: number;
  /** Whether `@now` in what is streamed becomes the time of its sending, in milliseconds since the epoch. */
  stamped: boolean;
  /** Stops after so many events and then: destroys the socket, or says nothing more. */
  breakOff?: { afterChunks: number; how: 'cut' | 'stall' | 'cut-json' };
}

export type Step =
  | ReplyStep
  | { kind: 'fail'; status: number; headers: Record<string, string>; body: string; times: number }
  | { kind: 'hang'; ms: number; next: Step }
  | { kind: 'empty-choices' }
  | { kind: 'body'; status: number; contentType: string; body: string }
  | { kind: 'error-in-stream'; error: unknown; afterChunks: number };

export interface ReplyOptions {
  usage?: readonly [input: number, output: number];
  /** In how many pieces the text is streamed; a piece per word unless given. */
  chunks?: number;
  delayMs?: number;
  perSecond?: number;
  stamped?: boolean;
  reasoning?: string;
}

export function say(text: string, options: ReplyOptions = {}): ReplyStep {
  return { ...reply(options), content: text, pieces: split(text, options.chunks) };
}

let callCount = 0;

/** Calls without an id get one that is unique in this process. */
export function call(tool: string, args: object = {}, id?: string, options: ReplyOptions = {}): ReplyStep {
  return calls([{ tool, args, id }], options);
}

export interface ScriptedCall {
  tool: string;
  args?: object;
  id?: string;
}

export function calls(list: readonly ScriptedCall[], options: ReplyOptions = {}): ReplyStep {
  const toolCalls = list.map(({ tool, args = {}, id }) => {
    callCount += 1;
    return { id: id ?? `call_${callCount}`, name: tool, arguments: JSON.stringify(args) };
  });
  return { ...reply(options), toolCalls, finishReason: 'tool_calls' };
}

export interface RawReply extends ReplyOptions {
  content?: string;
  /** Sent as given: ids and names may be missing, empty or doubled, arguments need be no JSON. */
  toolCalls?: WireToolCall[];
  /** Null: the stream ends in order but without a finish reason. */
  finish?: string | null;
}

export function raw({ content = '', toolCalls = [], finish, ...options }: RawReply): ReplyStep {
  const usual = toolCalls.length > 0 ? 'tool_calls' : 'stop';
  const finishReason = finish === undefined ? usual : finish;
  return { ...reply(options), content, pieces: split(content, options.chunks), toolCalls, finishReason };
}

export interface FailOptions {
  /** Seconds, or a whole header value such as a date. */
  retryAfter?: number | string;
  retryAfterMs?: number;
  message?: string;
  code?: string;
  type?: string;
  /** The whole body instead of the usual error object. */
  body?: string;
  /** For how many requests; every further one unless given. */
  times?: number;
}

export function fail(status: number, options: FailOptions = {}): Step {
  const { retryAfter, retryAfterMs, message = `scripted failure ${status}`, code = null, type = null } = options;
  return {
    kind: 'fail',
    status,
    headers: {
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...(retryAfterMs === undefined ? {} : { 'retry-after-ms': String(retryAfterMs) }),
    },
    body: options.body ?? JSON.stringify({ error: { message, code, type } }),
    times: options.times ?? Number.POSITIVE_INFINITY,
  };
}

/** No byte for so long, then the next word's reply. */
export function hang(ms: number, next: Step = say('late')): Step {
  return { kind: 'hang', ms, next };
}

/** Destroys the connection in the middle of the reply. */
export function cut(afterChunks: number, of: ReplyStep = say('this reply is never finished')): Step {
  return { ...of, breakOff: { afterChunks, how: 'cut' } };
}

/** Says nothing more in the middle of the reply, and keeps the connection. */
export function stall(afterChunks: number, of: ReplyStep = say('this reply is never finished')): Step {
  return { ...of, breakOff: { afterChunks, how: 'stall' } };
}

/** Ends the answer in the middle of a piece of JSON. */
export function cutJson(of: ReplyStep = say('this reply is never finished')): Step {
  return { ...of, breakOff: { afterChunks: 1, how: 'cut-json' } };
}

/** An answer in order whose list of choices is empty. */
export function emptyChoices(): Step {
  return { kind: 'empty-choices' };
}

/** A whole HTTP answer as given, such as status 200 with an error inside. */
export function body(text: string, { status = 200, contentType = 'application/json' } = {}): Step {
  return { kind: 'body', status, contentType, body: text };
}

export function errorInStream(
  error: unknown = { message: 'The server had an error', type: 'server_error' },
  afterChunks = 1,
): Step {
  return { kind: 'error-in-stream', error, afterChunks };
}

function reply(options: ReplyOptions): ReplyStep {
  const { usage = [0, 0], delayMs = 0, perSecond, stamped = false, reasoning } = options;
  return {
    kind: 'reply',
    content: '',
    pieces: [],
    toolCalls: [],
    usage: { input: usage[0], output: usage[1] },
    finishReason: 'stop',
    delayMs,
    stamped,
    ...(perSecond === undefined ? {} : { perSecond }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

function split(text: string, chunks?: number): string[] {
  if (chunks === undefined) return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];
  const size = Math.max(1, Math.ceil(text.length / chunks));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

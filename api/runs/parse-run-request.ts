import type { Request } from 'express';
import { STREAM_MODES } from '../../contracts';
import type { JsonObject, StreamMode } from '../../contracts';
import { threadIdSchema } from '../../contracts/schemas/fields';
import type { RunCreateRequest } from '../../contracts/schemas/run-request';
import { runCreateRequestSchema } from '../../contracts/schemas/run-request';
import type { RequestFault } from '../http/validation';
import { RequestValidationError, fault, parse } from '../http/validation';
import { withoutSecrets } from './without-secrets';

/** Options of LangGraph's platform that nothing here could honour. */
const UNSUPPORTED_OPTIONS = ['feedback_keys', 'on_completion'] as const;

const BREAKPOINT_OPTIONS = ['interrupt_before', 'interrupt_after'] as const;

const MODE_WORDS = `'${STREAM_MODES.slice(0, -1).join("', '")}' or '${STREAM_MODES.at(-1)}'`;
const MODE_LITERAL = `literal['${STREAM_MODES.join("','")}']`;

/** The body of a request for a run. Every fault is told at once, in the words that clients know. */
export function parseRunRequest(body: unknown): RunCreateRequest {
  if (!isObject(body)) return parse(runCreateRequestSchema, body, 'body');
  const special = [
    ...optionFaults(body),
    ...streamModeFaults(body, 'body'),
    ...BREAKPOINT_OPTIONS.flatMap(breakpoints(body)),
  ];
  const told = new Set(special.map((one) => one.loc[1]));
  const rest = Object.fromEntries(Object.entries(body).filter(([key]) => !told.has(key)));
  const result = attempt(() => parse(runCreateRequestSchema, rest, 'body'));
  const faults = [...special, ...('faults' in result ? result.faults : [])];
  if (faults.length > 0 || 'faults' in result) throw new RequestValidationError(faults);
  checkNested(result.value, body);
  return result.value;
}

function attempt<T>(work: () => T): { value: T } | { faults: RequestFault[] } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof RequestValidationError) return { faults: error.faults };
    throw error;
  }
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function optionFaults(body: JsonObject): RequestFault[] {
  return UNSUPPORTED_OPTIONS.filter((option) => body[option] !== undefined && body[option] !== null).map((option) => ({
    type: 'unsupported_run_option',
    loc: ['body', option],
    msg: `Run option '${option}' is not supported by DeerFlow`,
    input: body[option],
    ctx: { option },
  }));
}

/** Names that are no modes get one fault; what is no name at all gets those of both forms that the option may have. */
function streamModeFaults(body: JsonObject, place: 'body' | 'query'): RequestFault[] {
  const input = body['stream_mode'];
  if (input === undefined || input === null) return [];
  const list = Array.isArray(input) ? input : [input];
  const loc = [place, 'stream_mode'];
  const foreign = list.findIndex((mode) => typeof mode !== 'string');
  if (foreign >= 0) {
    const literal = { type: 'literal_error', msg: `Input should be ${MODE_WORDS}`, ctx: { expected: MODE_WORDS } };
    const asList = Array.isArray(input)
      ? { ...literal, loc: [...loc, `list[${MODE_LITERAL}]`, foreign], input: list[foreign] }
      : { type: 'list_type', loc: [...loc, `list[${MODE_LITERAL}]`], msg: 'Input should be a valid list', input };
    return [asList, { ...literal, loc: [...loc, MODE_LITERAL], input }];
  }
  const named = list.filter((mode) => typeof mode === 'string');
  const unknown = named.filter((mode) => !STREAM_MODES.some((known) => known === mode));
  if (unknown.length === 0) return [];
  const modes = unknown.join(', ');
  return [{ type: 'unsupported_stream_mode', loc, msg: `Unsupported stream mode(s): ${modes}`, input, ctx: { modes } }];
}

function breakpoints(body: JsonObject) {
  return (option: string): RequestFault[] => {
    const input = body[option];
    if (input === undefined || input === null || input === '*') return [];
    const loc = ['body', option];
    const star = {
      type: 'literal_error',
      loc: [...loc, "literal['*']"],
      msg: "Input should be '*'",
      input,
      ctx: { expected: "'*'" },
    };
    if (!Array.isArray(input)) {
      return [{ type: 'list_type', loc: [...loc, 'list[str]'], msg: 'Input should be a valid list', input }, star];
    }
    const wrong = input.findIndex((node) => typeof node !== 'string');
    if (wrong < 0) return [];
    const msg = 'Input should be a valid string';
    return [{ type: 'string_type', loc: [...loc, 'list[str]', wrong], msg, input: input[wrong] }, star];
  };
}

/** Parts of free-form objects that have a form after all. */
function checkNested(request: RunCreateRequest, body: JsonObject): void {
  for (const part of ['context', 'configurable', 'metadata'] as const) {
    const value = request.config[part];
    if (value === undefined || value === null || isObject(value)) continue;
    throw fault('dict_type', ['body', 'config', part], 'Input should be a valid dictionary', value);
  }
  const threadId = configurableOf(request)['thread_id'];
  if (threadId !== undefined && threadId !== null && !threadIdSchema.safeParse(threadId).success) {
    const msg = 'Value error, Invalid thread_id: expected 1-64 ASCII letters, digits, hyphens, or underscores';
    throw fault('value_error', ['body'], msg, withoutSecrets(body), { error: {} });
  }
  for (const [place, metadata] of [
    [['metadata'], request.metadata],
    [['config', 'metadata'], request.config['metadata']],
  ] as const) {
    if (isObject(metadata) && metadata['auth_token'] !== undefined) {
      const msg = 'Value error, auth_token must not be sent in metadata';
      // The value itself is not repeated: it is a secret.
      throw fault('value_error', ['body', ...place, 'auth_token'], msg, null, { error: {} });
    }
  }
}

export function configurableOf(request: RunCreateRequest): JsonObject {
  const value = request.config['configurable'];
  return isObject(value) ? value : {};
}

/** Modes of a reader that joins: a JSON array, or the key repeated. Null where it names none. */
export function joinerModes(request: Request): StreamMode[] | null {
  const given = [request.query['stream_mode']].flat().filter((mode) => typeof mode === 'string');
  const modes = given.flatMap((text) => jsonList(text) ?? [text]).filter((mode) => mode !== '');
  const faults = streamModeFaults({ stream_mode: modes }, 'query');
  if (faults.length > 0) throw new RequestValidationError(faults);
  const known = STREAM_MODES.filter((mode) => modes.includes(mode));
  return known.length === 0 ? null : known;
}

function jsonList(text: string): string[] | null {
  if (!text.startsWith('[')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.map(String) : null;
  } catch {
    return null;
  }
}

import type { z } from 'zod';
import { AppError } from '../../contracts';

/** One fault of a request, in the form that DeerFlow's clients read. */
export interface RequestFault {
  type: string;
  loc: Array<string | number>;
  msg: string;
  input: unknown;
  ctx?: Record<string, unknown>;
}

/** Faults that one answer tells; whoever has more than these learns nothing from the rest. */
const MAX_FAULTS = 100;

/** A request that does not fit: answered 422 with the list of faults. */
export class RequestValidationError extends AppError {
  override readonly name = 'RequestValidationError';

  constructor(readonly faults: RequestFault[]) {
    super('invalid_request', faults.map((fault) => `${fault.loc.join('.')}: ${fault.msg}`).join('; '));
  }
}

export function fault(type: string, loc: RequestFault['loc'], msg: string, input: unknown, ctx?: RequestFault['ctx']) {
  return new RequestValidationError([{ type, loc, msg, input, ...(ctx === undefined ? {} : { ctx }) }]);
}

/** Parses a part of a request (`body`, `query`, `path`); the faults are reported at once. */
export function parse<T extends z.ZodType>(schema: T, value: unknown, place: 'body' | 'query' | 'path'): z.output<T> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, MAX_FAULTS);
  throw new RequestValidationError(issues.flatMap((issue) => toFaults(issue, place, value)).slice(0, MAX_FAULTS));
}

function valueAt(root: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      value !== null && typeof value === 'object' ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    root,
  );
}

function toFaults(issue: z.core.$ZodIssue, place: string, root: unknown): RequestFault[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  const loc = [place, ...path];
  const input = valueAt(root, issue.path) ?? null;
  if (issue.code === 'invalid_union') {
    return issue.errors
      .flatMap((errors) => errors.slice(0, MAX_FAULTS))
      .flatMap((inner) => toFaults({ ...inner, path: [...issue.path, ...inner.path] }, place, root));
  }
  if (issue.code === 'invalid_type' && loc.length === 1 && root !== undefined) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return [{ type: 'model_attributes_type', loc, msg, input }];
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_FAULTS).map((key) => ({
      type: 'extra_forbidden',
      loc: [...loc, key],
      msg: 'Extra inputs are not permitted',
      input: valueAt(root, [...issue.path, key]) ?? null,
    }));
  }
  const { type, msg, ctx } = describe(issue, input);
  return [{ type, loc, msg, input, ...(ctx === undefined ? {} : { ctx }) }];
}

interface Description {
  type: string;
  msg: string;
  ctx?: Record<string, unknown>;
}

const TYPE_FAULTS: Record<string, Description> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  number: { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' },
  int: { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' },
  boolean: { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
};

function describe(issue: z.core.$ZodIssue, input: unknown): Description {
  switch (issue.code) {
    case 'invalid_type':
      if (input === null && issue.input === undefined) return { type: 'missing', msg: 'Field required' };
      return TYPE_FAULTS[issue.expected] ?? { type: 'value_error', msg: issue.message };
    case 'invalid_value':
      return literalFault(issue.values);
    case 'too_small':
      return sizeFault(issue.origin, 'min', Number(issue.minimum));
    case 'too_big':
      return sizeFault(issue.origin, 'max', Number(issue.maximum));
    case 'invalid_format':
      return issue.format === 'regex'
        ? patternFault(issue.pattern ?? '')
        : { type: 'value_error', msg: `Value error, ${issue.message}` };
    default:
      return { type: 'value_error', msg: `Value error, ${issue.message}`, ctx: { error: {} } };
  }
}

function literalFault(values: readonly unknown[]): Description {
  const quoted = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  const expected = [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter((part) => part !== '').join(' or ');
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } };
}

function sizeFault(origin: string, side: 'min' | 'max', limit: number): Description {
  if (origin === 'string') {
    const [type, word] = side === 'min' ? ['string_too_short', 'at least'] : ['string_too_long', 'at most'];
    const unit = limit === 1 ? 'character' : 'characters';
    return { type, msg: `String should have ${word} ${limit} ${unit}`, ctx: { [`${side}_length`]: limit } };
  }
  if (origin === 'array') {
    const [type, word] = side === 'min' ? ['too_short', 'at least'] : ['too_long', 'at most'];
    return { type, msg: `List should have ${word} ${limit} items`, ctx: { [`${side}_length`]: limit } };
  }
  return side === 'min'
    ? { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${limit}`, ctx: { ge: limit } }
    : { type: 'less_than_equal', msg: `Input should be less than or equal to ${limit}`, ctx: { le: limit } };
}

function patternFault(source: string): Description {
  const pattern = source.replace(/^\/|\/[a-z]*$/g, '');
  return {
    type: 'string_pattern_mismatch',
    msg: `String should match pattern '${pattern}'`,
    ctx: { pattern },
  };
}

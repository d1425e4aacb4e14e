/** Checks the parsed file against the schema and turns the first fault into one line for the operator. */
import type { z } from 'zod';
import { configSchema } from '../contracts/schemas/config';
import type { Config } from '../contracts/schemas/config';
import { configError, dottedKey } from './config-error';
import type { ConfigSource } from './config-error';
import type { Interpolated } from './interpolate';
import { knownKeysAt } from './schema-keys';

type Issue = z.core.$ZodIssue;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
};

export function validateConfig({ value, fromEnvironment }: Interpolated, source: ConfigSource): Config {
  let result = configSchema.safeParse(value);
  if (!result.success && fromEnvironment.size > 0) {
    // Variables are text; where the schema wants a number or a boolean, plain digits or true/false stand for it.
    const converted = convertText(value, result.error.issues, fromEnvironment);
    if (converted) result = configSchema.safeParse(value);
  }
  if (result.success) return result.data;
  const issues = result.error.issues.flatMap((issue) => describeIssue(issue, value));
  const [first] = issues;
  const rest = issues.length - 1;
  const more = rest > 0 ? ` (and ${rest} more ${rest === 1 ? 'problem' : 'problems'})` : '';
  const detail = issues.map(({ path, problem }) => ({ key: dottedKey(path), problem }));
  throw configError(source, first?.path ?? [], `${first?.problem ?? 'expected another value'}${more}`, detail);
}

/** Works on the copy that interpolation made; returns whether anything changed. */
function convertText(root: unknown, issues: readonly Issue[], fromEnvironment: ReadonlySet<string>): boolean {
  let changed = false;
  for (const issue of issues.flatMap(alternatives)) {
    if (issue.code !== 'invalid_type' || !fromEnvironment.has(dottedKey(issue.path))) continue;
    const parent = valueAt(root, issue.path.slice(0, -1));
    const last = issue.path.at(-1);
    if (typeof parent !== 'object' || parent === null || last === undefined) continue;
    const text = String(Reflect.get(parent, last)).trim();
    const value = textAs(issue.expected, text);
    if (value === undefined) continue;
    Reflect.set(parent, last, value);
    changed = true;
  }
  return changed;
}

/** Where several kinds of value are possible, what is wrong for each of them. */
function alternatives(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const inner = issue.errors.flat();
  return inner.map((one) => ({ ...one, path: [...issue.path, ...one.path] })).flatMap(alternatives);
}

function textAs(expected: string, text: string): number | boolean | undefined {
  if ((expected === 'number' || expected === 'int') && /^\d{1,15}$/.test(text)) return Number(text);
  if (expected === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return undefined;
}

interface Problem {
  path: PropertyKey[];
  problem: string;
}

function describeIssue(issue: Issue, root: unknown): Problem[] {
  const { path } = issue;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeysAt(issue.path);
      const hint = known.length === 0 ? '' : `; expected one of ${known.join(', ')}`;
      return issue.keys.map((name) => ({ path: [...path, name], problem: `unknown key${hint}` }));
    }
    case 'invalid_type': {
      const expected = TYPE_NAMES[issue.expected] ?? issue.expected;
      return [{ path, problem: `expected ${expected}, got ${describeValue(valueAt(root, issue.path))}` }];
    }
    case 'too_small':
    case 'too_big':
      return [{ path, problem: `expected ${describeBound(issue)}, got ${describeValue(valueAt(root, issue.path))}` }];
    case 'invalid_union':
      return describeUnion(issue, root);
    case 'invalid_value':
      return [{ path, problem: `expected one of ${issue.values.map(String).join(', ')}` }];
    default:
      return [{ path, problem: `expected another value: ${issue.message}` }];
  }
}

/** What is wrong by the kind of value that was meant; where none was, all that could stand there. */
function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>, root: unknown): Problem[] {
  const { path } = issue;
  const inner = issue.errors.map((issues) => issues.map((one) => ({ ...one, path: [...path, ...one.path] })));
  const meant = inner.find((issues) => !issues.some((one) => isAnotherKind(one, path)));
  if (meant !== undefined) return meant.flatMap((one) => describeIssue(one, root));
  const kinds = inner.flatMap(([first]) => (first === undefined ? [] : kindsOf(first)));
  const expected = kinds.length === 0 ? 'another kind of value' : [...new Set(kinds)].join(', or ');
  return [{ path, problem: `expected ${expected}, got ${describeValue(valueAt(root, path))}` }];
}

function isAnotherKind({ code, path }: Issue, place: readonly PropertyKey[]): boolean {
  return (code === 'invalid_type' || code === 'invalid_value') && path.length === place.length;
}

function kindsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_type') return [TYPE_NAMES[issue.expected] ?? issue.expected];
  return issue.code === 'invalid_value' ? issue.values.map(String) : [];
}

function describeBound(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const bound = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const unit = issue.origin === 'string' ? ' characters' : issue.origin === 'array' ? ' entries' : '';
  if (issue.code === 'too_small') return `${issue.inclusive ? 'at least' : 'more than'} ${String(bound)}${unit}`;
  return `${issue.inclusive ? 'at most' : 'less than'} ${String(bound)}${unit}`;
}

/** Texts are never repeated: the value may be a key that was put in the wrong place. */
function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return value === '' ? 'empty text' : 'text';
  return Array.isArray(value) ? 'a list' : 'a mapping';
}

function valueAt(root: unknown, path: ReadonlyArray<PropertyKey>): unknown {
  return path.reduce<unknown>(
    (value, part) => (typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined),
    root,
  );
}

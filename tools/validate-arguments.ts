/** Checks a model's arguments against a tool's schema and words what is wrong the way models know it. */
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts';
import { pythonRepr } from './python-repr';
import type { Tool } from './tool';

const LONGEST_ECHO = 1_000;

export type Validated = { ok: true; args: Record<string, unknown> } | { ok: false; message: string };

export function validateArguments(tool: Tool, raw: JsonObject): Validated {
  const first = tool.schema.safeParse(raw);
  if (first.success) return { ok: true, args: first.data };
  // Models write numbers and truth values as text at times, and null for what they leave out.
  const second = tool.schema.safeParse(coerced(tool, raw));
  if (second.success) return { ok: true, args: second.data };
  const problems = first.error.issues.map((issue) => `${issue.path.join('.')}: ${issueText(issue, raw)}`);
  const echo = pythonRepr(raw);
  const shown = echo.length > LONGEST_ECHO ? `${echo.slice(0, LONGEST_ECHO)}...` : echo;
  return {
    ok: false,
    message: `Error invoking tool '${tool.name}' with kwargs ${shown} with error:\n ${problems.join('\n')}\n Please fix the error and try again.`,
  };
}

/** JSON Schema of the arguments as providers want it. */
export function argumentsSchema(tool: Tool): JsonObject {
  const { $schema, ...schema } = z.toJSONSchema(tool.schema, { io: 'input' });
  void $schema;
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

function coerced(tool: Tool, raw: JsonObject): JsonObject {
  const properties = argumentsSchema(tool).properties;
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(raw)) {
    const types = typesOf((properties as JsonObject | undefined)?.[name]);
    if (value === null && types.length > 0 && !types.includes('null')) continue;
    result[name] = coercedValue(value, types);
  }
  return result;
}

function coercedValue(value: JsonValue, types: readonly string[]): JsonValue {
  if (typeof value !== 'string' || types.includes('string')) return value;
  const text = value.trim().toLowerCase();
  if (types.includes('integer') && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (types.includes('boolean') && /^(?:true|false)$/.test(text)) return text === 'true';
  if (types.includes('null') && /^(?:null|none|)$/.test(text)) return null;
  return value;
}

function typesOf(schema: JsonValue | undefined): string[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [];
  if (typeof schema.type === 'string') return [schema.type];
  return Array.isArray(schema.anyOf) ? schema.anyOf.flatMap((option) => typesOf(option)) : [];
}

function issueText(issue: z.core.$ZodIssue, raw: JsonObject): string {
  if (issue.code !== 'invalid_type') return issue.message;
  if (valueAt(raw, issue.path) === undefined) return 'Field required';
  const names: Record<string, string> = { int: 'integer', number: 'integer', array: 'list', object: 'dictionary' };
  return `Input should be a valid ${names[issue.expected] ?? issue.expected}`;
}

function valueAt(raw: JsonObject, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    raw,
  );
}

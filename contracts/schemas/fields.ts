/** Fields that several requests share, with the checks in the order in which clients are told of them. */
import { z } from 'zod';
import { THREAD_ID_PATTERN } from '../ids';
import type { JsonObject } from '../json';

export const threadIdSchema = z.string().min(1, { abort: true }).max(64, { abort: true }).regex(THREAD_ID_PATTERN);

/** Bodies come out of a JSON parser: only the outermost level needs a look. */
export const jsonObjectSchema = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject, JsonObject>;

/** Null counts as absent. */
export function optionalObject() {
  return jsonObjectSchema.nullish().transform((value) => value ?? {});
}

const DIGITS = /^[+-]?\d{1,15}$/;
const TRUE_WORDS = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const FALSE_WORDS = new Set(['false', '0', 'no', 'off', 'f', 'n']);

/** An integer that may be written as text, as it is in every query. */
export function integerSchema(range: { min?: number; max?: number }) {
  let schema = z.int();
  if (range.min !== undefined) schema = schema.min(range.min);
  if (range.max !== undefined) schema = schema.max(range.max);
  return z.preprocess((value) => (typeof value === 'string' && DIGITS.test(value) ? Number(value) : value), schema);
}

export function integerOr(fallback: number, range: { min?: number; max?: number }) {
  return integerSchema(range).optional().default(fallback);
}

/** A yes or no of a query. */
export const flagSchema = z.preprocess((value) => {
  if (typeof value !== 'string') return value;
  const word = value.toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  return FALSE_WORDS.has(word) ? false : value;
}, z.boolean());

/** Building blocks of the configuration schema. A key without a value counts as absent, and gets its default. */
import { z } from 'zod';

/** Treats null as absent, so that the default applies. */
export function orDefault<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === null ? undefined : value), schema);
}

/** A mapping with a default for each key. Unknown keys are left out; whoever loads the file reports them. */
export function section<T extends z.ZodRawShape>(shape: T) {
  return orDefault(z.object(shape).prefault({} as never));
}

/** A mapping that refuses unknown keys. */
export function strictSection<T extends z.ZodRawShape>(shape: T) {
  return orDefault(z.strictObject(shape).prefault({} as never));
}

/** A mapping whose further keys belong to a provider and are passed on. */
export function openSection<T extends z.ZodRawShape>(shape: T) {
  return orDefault(z.looseObject(shape).prefault({} as never));
}

export const flag = (usual: boolean) => z.boolean().default(usual);
export const whole = (usual: number, least = 0, most = Number.MAX_SAFE_INTEGER) =>
  z.int().min(least).max(most).default(usual);
/** At least zero; more than zero is `positive`. */
export const number = (usual: number, least = 0, most = Number.MAX_VALUE) =>
  z.number().min(least).max(most).default(usual);
export const share = (usual: number) => number(usual, 0, 1);
export const positive = (usual: number) => z.number().positive().default(usual);
export const text = (usual: string) => z.string().default(usual);
export const texts = (usual: string[] = []) => z.array(z.string()).default(usual);
/** Null is the default, and means what the key's description says. */
export const optionalText = z.string().nullable().default(null);
export const optionalWhole = (least = 1) => z.int().min(least).nullable().default(null);
export const choice = <const T extends readonly [string, ...string[]]>(values: T, usual: T[number]) =>
  z.enum(values).default(usual as never);
/** A mapping with keys that we do not know. */
export const anything = z.record(z.string(), z.unknown());

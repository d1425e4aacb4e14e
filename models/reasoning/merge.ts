/** Merging of settings: nothing that comes in is changed, and nothing of a template is shared with the result. */
import { mapping } from '../../core/reasoning';

export type Settings = Readonly<Record<string, unknown>>;

/** Mappings are merged key by key; for everything else the later value counts. No key is ever taken away. */
export function deepMerge(base: Settings, over: Settings): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const [below, above] = [mapping(merged[key]), mapping(value)];
    define(merged, key, above === null ? structuredClone(value) : deepMerge(below ?? {}, above));
  }
  return merged;
}

/** The settings with a value at a dotted path; what is in the way there and no mapping is replaced. */
export function withPath(settings: Settings, path: string, value: unknown): Record<string, unknown> {
  const nested = path.split('.').reduceRight<unknown>((inner, key) => define({}, key, inner), value) as Record<
    string,
    unknown
  >;
  return deepMerge(settings, nested);
}

/** A key such as `__proto__` becomes a key like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  return Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

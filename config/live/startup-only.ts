/** Keys whose change takes effect only after a restart keep what the process started with. */
import { RESTART_KEYS } from '../../contracts/schemas/config';
import type { ConfigDocument } from '../load-config';
import type { PlainValue } from '../parse-yaml';

/** The startup-only keys in which two files differ. */
export function changedStartupKeys(before: ConfigDocument, after: ConfigDocument): string[] {
  return RESTART_KEYS.filter((key) => !isSame(valueAt(before, key.split('.')), valueAt(after, key.split('.'))));
}

/** What a file says, but with what another one says under these dotted keys: its values, or nothing. */
export function withKeysOf(
  document: ConfigDocument,
  other: ConfigDocument,
  keys: readonly string[] = RESTART_KEYS,
): ConfigDocument {
  return keys.reduce((result, key) => withValue(result, key.split('.'), other), document);
}

function withValue(
  target: ConfigDocument,
  [key = '', ...rest]: readonly string[],
  from: ConfigDocument,
): ConfigDocument {
  const wanted = from[key];
  if (rest.length === 0) {
    const { [key]: _dropped, ...others } = target;
    return wanted === undefined ? others : { ...others, [key]: wanted };
  }
  const inner = asMapping(target[key]);
  // Something that is no mapping is left for the check to refuse.
  if (inner === null) return target;
  const changed = withValue(inner, rest, asMapping(wanted) ?? {});
  return Object.keys(changed).length === 0 && target[key] === undefined ? target : { ...target, [key]: changed };
}

function asMapping(value: PlainValue | undefined): Record<string, PlainValue> | null {
  if (value === undefined) return {};
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}

function valueAt(document: ConfigDocument, path: readonly string[]): PlainValue | undefined {
  return path.reduce<PlainValue | undefined>(
    (value, part) => (value === undefined ? undefined : asMapping(value)?.[part]),
    document,
  );
}

function isSame(one: PlainValue | undefined, other: PlainValue | undefined): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** The order of keys means nothing. */
function sorted(value: PlainValue | undefined): PlainValue | undefined {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key]) ?? null]));
}

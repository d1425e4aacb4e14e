import type { JsonValue } from '../../contracts';

const PRIVATE_KEYS = new Set(['secrets', 'auth_token', 'github_token']);

/** A part of the request as it may be kept and shown again. */
export function withoutSecrets(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): Array<[string, JsonValue]> =>
      PRIVATE_KEYS.has(key) || key.startsWith('__') ? [] : [[key, withoutSecrets(item)]],
    ),
  );
}

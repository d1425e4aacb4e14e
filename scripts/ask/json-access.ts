/** Reading what an API of the same or a later version sent: what is not as expected counts as absent. */
import type { JsonObject, JsonValue } from '../../contracts';

export function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

export function asObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

export function asText(value: JsonValue | undefined, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise;
}

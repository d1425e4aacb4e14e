import type { JsonObject, JsonValue, RunContext } from '../../contracts';
import type { RunCreateRequest } from '../../contracts/schemas/run-request';
import { fault } from '../http/validation';
import { configurableOf } from './parse-run-request';

/** Every key that a request may set, with the form it must have to count. */
const CONTEXT_KEYS: Record<keyof RunContext, 'string' | 'boolean' | 'number'> = {
  model_name: 'string',
  mode: 'string',
  thinking_enabled: 'boolean',
  reasoning_effort: 'string',
  is_plan_mode: 'boolean',
  subagent_enabled: 'boolean',
  max_concurrent_subagents: 'number',
  max_total_subagents: 'number',
  agent_name: 'string',
  is_bootstrap: 'boolean',
};

/**
 * What a run may know of its request's context. Only the keys of the list pass: all others are the server's to say, or
 * nobody's. Where a key comes twice, `config.context` wins, then `config.configurable`, then `context`.
 */
export function runContext(request: RunCreateRequest): RunContext {
  const sources = [request.context, configurableOf(request), innerContext(request)];
  const entries = sources.flatMap((source) =>
    Object.entries(CONTEXT_KEYS).flatMap(([key, form]): Array<[string, JsonValue]> => {
      const value = source[key];
      return value !== undefined && typeof value === form ? [[key, value]] : [];
    }),
  );
  return Object.fromEntries(entries);
}

/** Every model that a request names, wherever it does. */
export function requestedModels(request: RunCreateRequest): JsonValue[] {
  return [request.context, configurableOf(request), innerContext(request)]
    .flatMap((source) => [source['model_name']])
    .filter((name) => name !== undefined && name !== null);
}

/** Secrets of the request, which go to no other place than the sealed store. */
export function requestSecrets(request: RunCreateRequest): Record<string, string> {
  const places: Array<[string[], JsonValue | undefined]> = [
    [['context'], request.context['secrets']],
    [['config', 'configurable'], configurableOf(request)['secrets']],
    [['config', 'context'], innerContext(request)['secrets']],
  ];
  const found: Record<string, string> = {};
  for (const [place, value] of places) {
    if (value === undefined || value === null) continue;
    if (!isStringMap(value)) {
      throw fault('dict_type', ['body', ...place, 'secrets'], 'Input should be a dictionary of strings', null);
    }
    Object.assign(found, value);
  }
  return found;
}

function isStringMap(value: JsonValue): value is Record<string, string> {
  return (
    value !== null &&
    typeof value === 'object' &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => typeof item === 'string')
  );
}

function innerContext(request: RunCreateRequest): JsonObject {
  const value = request.config['context'];
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

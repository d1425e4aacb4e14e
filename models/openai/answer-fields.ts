/** Parts of an answer, read as what they should be: servers that speak like OpenAI differ in what they send. */
import type { UsageMetadata } from '../../contracts';

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** What an answer calls its tokens: `prompt` and `completion` of chat completions, `input` and `output` elsewhere. */
export type UsageNames = readonly [input: 'prompt' | 'input', output: 'completion' | 'output'];

/** Null where nothing was counted. */
export function readUsage(usage: unknown, [inputName, outputName]: UsageNames): UsageMetadata | null {
  const fields = fieldsOf(usage);
  const input = count(fields[`${inputName}_tokens`]);
  const output = count(fields[`${outputName}_tokens`]);
  if (input === null && output === null) return null;
  const cacheRead = count(fieldsOf(fields[`${inputName}_tokens_details`])['cached_tokens']);
  const reasoning = count(fieldsOf(fields[`${outputName}_tokens_details`])['reasoning_tokens']);
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    total_tokens: count(fields['total_tokens']) ?? (input ?? 0) + (output ?? 0),
    ...(cacheRead === null ? {} : { input_token_details: { cache_read: cacheRead } }),
    ...(reasoning === null ? {} : { output_token_details: { reasoning } }),
  };
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
}

/** Limits of the built-in tools that are no configuration. */
import type { Config } from '../../contracts/schemas/config';

export const QUICK_TIMEOUT_MS = 20_000;

/** Bytes of one `write_file` call, where the environment does not say otherwise. */
export const WRITE_LIMIT_BYTES = 81_920;

const SEARCH_RESULTS = {
  glob: { usual: 200, most: 1_000 },
  grep: { usual: 100, most: 500 },
} as const;

/** How many results a search may return: what was asked for, within what is configured for the tool. */
export function searchLimit(name: keyof typeof SEARCH_RESULTS, requested: number, config: Config): number {
  const { usual, most } = SEARCH_RESULTS[name];
  const clamp = (value: number) => (value <= 0 ? usual : Math.min(value, most));
  const configured = config.tools?.find((tool) => tool.name === name)?.max_results ?? usual;
  return Math.min(clamp(requested), clamp(configured));
}

/** The value of DEERFLOW_WRITE_FILE_MAX_BYTES: null switches the limit off, nonsense leaves it as it is. */
export function parseWriteLimit(text: string | undefined): number | null {
  if (text === undefined || !/^\s*[+-]?\d+\s*$/.test(text)) return WRITE_LIMIT_BYTES;
  const bytes = Number(text);
  return bytes <= 0 ? null : bytes;
}

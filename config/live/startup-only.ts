/** Keys whose change takes effect only after a restart: what they set up is made once, when a process starts. */
import type { ConfigSource } from '../load-config';
import type { PlainValue } from '../parse-yaml';

export const STARTUP_ONLY_KEYS: readonly string[] = [
  'agent_storage',
  'auth.local.throttle_storage',
  'channel_connections',
  'channels',
  'checkpointer',
  'database',
  'dedupe_storage',
  'deployment',
  'llm_call.max_concurrent_calls',
  'log_level',
  'logging',
  'mcp_tasks',
  'plugins',
  'run_events',
  'run_ownership',
  'sandbox',
  'scheduler',
  'skills.container_path',
  'stream_bridge',
  'subagent_batches',
  'subagent_runtime',
];

/** The startup-only keys in which two files differ. */
export function changedStartupKeys(before: ConfigSource, after: ConfigSource): string[] {
  return STARTUP_ONLY_KEYS.filter((key) => !isSame(valueAt(before, key.split('.')), valueAt(after, key.split('.'))));
}

/** What a file says, but with the startup-only keys of the file that the process started with. */
export function withStartupKeys(source: ConfigSource, started: ConfigSource): ConfigSource {
  return STARTUP_ONLY_KEYS.reduce((result, key) => withValue(result, key.split('.'), started), source);
}

function withValue(target: ConfigSource, [key = '', ...rest]: readonly string[], from: ConfigSource): ConfigSource {
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

function valueAt(source: ConfigSource, path: readonly string[]): PlainValue | undefined {
  return path.reduce<PlainValue | undefined>(
    (value, part) => (value === undefined ? undefined : asMapping(value)?.[part]),
    source,
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

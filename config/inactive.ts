/**
 * What a DeerFlow configuration may hold and this server does not use yet. Such keys are accepted, taken out before
 * validation and reported, so that an existing file starts unchanged and its owner learns what has no effect.
 *
 * `sandbox.network` is left out on purpose: ignoring a wish for isolation would be worse than refusing to start.
 */
import { INACTIVE_SECTIONS } from '../contracts/schemas/config';
import type { PlainValue } from './parse-yaml';

const INACTIVE_KEYS: Readonly<Record<string, readonly string[]>> = {
  sandbox: [
    'acquire_timeout',
    'api_key',
    'base_url',
    'burst_limit',
    'container_prefix',
    'cpu_cores',
    'cpus',
    'domain',
    'environment',
    'health_check_skip_seconds',
    'home_dir',
    'idle_timeout',
    'image',
    'max_duration',
    'memory_mb',
    'memory_mib',
    'mount_upload_deadline_seconds',
    'overflow_policy',
    'ownership',
    'port',
    'project_id',
    'protocol',
    'provisioner_api_key',
    'provisioner_url',
    'ready_timeout',
    'replicas',
    'request_timeout',
    'sandbox_timeout',
    'sticky',
    'template',
    'thread_data_mounts',
    'use_server_proxy',
    'workspace_id',
  ],
  skills: ['use', 'deferred_discovery'],
  // The stream of a run lies in PostgreSQL whole: there is no buffer to size and no broker to choose.
  stream_bridge: ['type', 'redis_url', 'queue_maxsize', 'max_connections', 'stream_ttl_seconds'],
  uploads: ['auto_convert_documents', 'pdf_converter'],
};

/** Splits a parsed file into what is validated and the dotted names of what is not used. */
export function splitInactive(document: { [key: string]: PlainValue }): {
  active: { [key: string]: PlainValue };
  inactive: string[];
} {
  const sections = new Set<string>(INACTIVE_SECTIONS);
  const active: { [key: string]: PlainValue } = {};
  const inactive: string[] = [];
  for (const [name, value] of Object.entries(document)) {
    if (value === null) continue;
    if (sections.has(name)) {
      inactive.push(name);
      continue;
    }
    const keys = INACTIVE_KEYS[name];
    if (keys === undefined || typeof value !== 'object' || Array.isArray(value)) {
      active[name] = value;
      continue;
    }
    const entries = Object.entries(value);
    active[name] = Object.fromEntries(entries.filter(([key]) => !keys.includes(key)));
    inactive.push(
      ...entries.filter(([key, item]) => keys.includes(key) && item !== null).map(([key]) => `${name}.${key}`),
    );
  }
  return { active, inactive: inactive.sort() };
}

/** A key without a value counts as absent, at any depth: its lines may all be commented out. */
export function withoutNulls(value: { [key: string]: PlainValue }): { [key: string]: PlainValue } {
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNullsInside(item)]));
}

function withoutNullsInside(value: PlainValue): PlainValue {
  if (Array.isArray(value)) return value.map(withoutNullsInside);
  return typeof value === 'object' && value !== null ? withoutNulls(value) : value;
}

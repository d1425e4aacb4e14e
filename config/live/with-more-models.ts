import { createHash } from 'node:crypto';
import type { ModelConfig } from '../../contracts/schemas/config';
import { referencedVariable } from '../interpolate';
import type { LoadedConfig } from '../load-config';
import type { PlainValue } from '../parse-yaml';
import type { LiveConfig } from './live-config';

/**
 * A live configuration with models that are kept elsewhere, behind those of the file: runs begin with both, and keep
 * both. A name of the file wins.
 *
 * @param more the same list until it has changed.
 */
export function withMoreModels(live: LiveConfig, more: () => readonly ModelConfig[]): LiveConfig {
  let made: { base: LoadedConfig; added: readonly ModelConfig[]; result: LoadedConfig } | null = null;
  return {
    ...live,
    current() {
      const [base, added] = [live.current(), more()];
      if (made?.base !== base || made.added !== added) made = { base, added, result: merge(base, added) };
      return made.result;
    },
  };
}

function merge(base: LoadedConfig, more: readonly ModelConfig[]): LoadedConfig {
  const taken = new Set(base.config.models.map(({ name }) => name));
  const added = more.filter((entry) => !taken.has(entry.name) && !namesVariable(entry));
  if (added.length === 0) return base;
  const text = JSON.stringify(added);
  const written = base.document['models'];
  return {
    ...base,
    config: { ...base.config, models: [...base.config.models, ...added] },
    document: {
      ...base.document,
      models: [...(Array.isArray(written) ? written : []), ...(JSON.parse(text) as PlainValue[])],
    },
    signature: createHash('sha256').update(`${base.signature}\0${text}`).digest('hex'),
  };
}

/** Only the operator's file may name variables of the process: an entry from elsewhere must not send them anywhere. */
function namesVariable(value: unknown): boolean {
  if (typeof value === 'string') return referencedVariable(value) !== null;
  return typeof value === 'object' && value !== null && Object.values(value).some(namesVariable);
}

/** Keys that older versions of DeerFlow kept elsewhere. */
import type { PlainValue } from './parse-yaml';
import { keysAt } from './schema-keys';

type Mapping = { [key: string]: PlainValue };

/** Moves what lay directly in `memory` to `memory.backend_config`, and says so. */
export function moveOldKeys(document: Mapping): { value: Mapping; moved: string[] } {
  const memory = document['memory'];
  if (!isMapping(memory)) return { value: document, moved: [] };
  const backendKeys = keysAt(['memory', 'backend_config']) ?? new Set<string>();
  const present = isMapping(memory['backend_config']) ? memory['backend_config'] : {};
  const kept: Mapping = {};
  const backend: Mapping = {};
  const moved: string[] = [];
  for (const [key, value] of Object.entries(memory)) {
    if (key === 'model_name') {
      backend['model'] = { model: value };
      moved.push('memory.model_name has moved to memory.backend_config.model.model');
    } else if (key === 'storage_path' && typeof value === 'string' && /\.\w+$/.test(value)) {
      moved.push('memory.storage_path named a file and is left out: memory.backend_config.storage_path is a folder');
    } else if (backendKeys.has(key)) {
      backend[key] = value;
      moved.push(`memory.${key} has moved to memory.backend_config.${key}`);
    } else {
      kept[key] = value;
    }
  }
  if (moved.length === 0) return { value: document, moved };
  return { value: { ...document, memory: { ...kept, backend_config: { ...backend, ...present } } }, moved };
}

function isMapping(value: PlainValue | undefined): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

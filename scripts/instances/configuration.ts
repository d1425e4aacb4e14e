/**
 * The configuration of two instances from one that was written for a single one. Pure: gives back the new document and
 * a line for each thing that its owner would miss.
 */
import { AppError } from '../../contracts';
import { CONNECTED_CHANNELS } from '../../contracts/schemas/config';
import type { ConfigDocument } from '../../config';

export interface AdaptedConfig {
  document: ConfigDocument;
  changes: string[];
}

export interface AdaptOptions {
  keepChannels: boolean;
  /** Prefix for the names of containers, of this harness alone. */
  containerPrefix: string;
}

type Value = ConfigDocument[string];
type Section = { [key: string]: Value };

interface Draft {
  root: Section;
  note: (change: string) => void;
}

export function forTwoInstances(document: ConfigDocument, options: AdaptOptions): AdaptedConfig {
  const changes: string[] = [];
  const draft: Draft = { root: structuredClone(document), note: (change) => changes.push(change) };
  declare(draft);
  ownStorage(draft);
  sharedTools(draft);
  sharedSandbox(draft, options.containerPrefix);
  if (!options.keepChannels) silenceChannels(draft);
  return { document: draft.root, changes };
}

/** What makes it a deployment of several instances; no change that is worth a line. */
function declare({ root }: Draft): void {
  madeSection(root, 'deployment')['multi_instance'] = true;
  madeSection(root, 'run_events')['backend'] = 'db';
  madeSection(root, 'run_ownership')['heartbeat_enabled'] = true;
  Object.assign(madeSection(root, 'database'), { backend: 'postgres', postgres_url: '$DATABASE_URL' });
}

/** Nothing that the instances write may reach what belongs to another deployment. */
function ownStorage(draft: Draft): void {
  const { root, note } = draft;
  const drop = (path: string, why: string) => {
    if (removeAt(root, path.split('.'))) note(`${path} was removed: ${why}`);
  };
  drop('checkpointer', 'it would win over database, which is that of the instances');
  drop('database.postgres_schema', 'the database of the instances has a schema of its own');
  if (valueAt(root, ['database', 'checkpoint_cache', 'type']) === 'redis') {
    drop('database.checkpoint_cache', 'there is no Redis here');
  }
  if (valueAt(root, ['stream_bridge', 'type']) === 'redis') {
    drop('stream_bridge.type', 'streams lie in PostgreSQL, and there is no Redis here');
    removeAt(root, ['stream_bridge', 'redis_url']);
  }
  const ownHome = 'what it holds goes into the folder of the instances';
  drop('memory.storage_path', ownHome);
  drop('memory.backend_config.storage_path', ownHome);
  drop('blob_storage.backend_config.root', ownHome);
}

function sharedTools({ root, note }: Draft): void {
  const { tools } = root;
  if (Array.isArray(tools)) {
    const isBrowser = (tool: Value) => nameOf(tool).startsWith('browser_');
    const removed = tools.filter(isBrowser).map(nameOf);
    root['tools'] = tools.filter((tool) => !isBrowser(tool));
    if (removed.length > 0) note(`tools ${removed.join(', ')} were removed: a browser lives in one process`);
  }
  const scheduler = sectionAt(root, ['scheduler']);
  if (scheduler?.['enabled'] === true && scheduler['multi_instance'] !== true) {
    scheduler['multi_instance'] = true;
    note('scheduler.multi_instance was set to true: the scheduler is on');
  }
}

function sharedSandbox({ root, note }: Draft, containerPrefix: string): void {
  const sandbox = sectionAt(root, ['sandbox']);
  if (sandbox === null) return;
  const removed = ['type', 'redis_url'].filter((key) => removeAt(sandbox, ['ownership', key]));
  if (removed.length > 0) {
    note(`sandbox.ownership: ${removed.join(' and ')} removed: both instances share what PostgreSQL says`);
  }
  if (typeof sandbox['use'] === 'string' && /aio/i.test(sandbox['use'])) {
    sandbox['container_prefix'] = containerPrefix;
    note(`sandbox.container_prefix was set to ${containerPrefix}: containers of others stay alone`);
  }
}

/** Two instances would connect the same bot twice. */
function silenceChannels({ root, note }: Draft): void {
  for (const list of ['channels', 'channel_connections']) {
    for (const name of CONNECTED_CHANNELS) {
      const channel = sectionAt(root, [list, name]);
      if (channel?.['enabled'] !== true) continue;
      channel['enabled'] = false;
      note(`${list}.${name}.enabled was set to false (DEERFLOW_MI_KEEP_CHANNELS=1 keeps it)`);
    }
  }
}

/** Made where the file does not have it. */
function madeSection(root: Section, key: string): Section {
  const found = sectionAt(root, [key]);
  if (found !== null) return found;
  if (root[key] !== undefined) throw new AppError('configuration', `${key}: expected a mapping of keys to values`);
  const made: Section = {};
  root[key] = made;
  return made;
}

function sectionAt(root: Section, path: readonly string[]): Section | null {
  const value = valueAt(root, path);
  return isSection(value) ? value : null;
}

function valueAt(root: Section, path: readonly string[]): Value | undefined {
  return path.reduce<Value | undefined>((value, key) => (isSection(value) ? value[key] : undefined), root);
}

/** Whether there was something to remove: an empty text or null says nothing. */
function removeAt(root: Section, path: readonly string[]): boolean {
  const key = path.at(-1);
  const parent = sectionAt(root, path.slice(0, -1));
  if (parent === null || key === undefined) return false;
  const said = parent[key] ?? '';
  delete parent[key];
  return said !== '';
}

function isSection(value: Value | undefined): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(tool: Value): string {
  return isSection(tool) && typeof tool['name'] === 'string' ? tool['name'] : '';
}

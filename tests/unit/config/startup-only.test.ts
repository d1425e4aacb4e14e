import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLiveConfig, loadConfig } from '../../../config';
import type { LiveConfig } from '../../../config';
import type { Config } from '../../../contracts/schemas/config';
import { RESTART_KEYS } from '../../../contracts/schemas/config';

const EVERY_KEY = join(__dirname, '../../fixtures/every-key.yaml');
const ENV = { EXAMPLE_KEY: 'a-secret', EXAMPLE_PACE: '60' };

/** What DeerFlow reads at its start alone. */
const STARTUP_ONLY = [
  'agent_storage',
  'auth.local.throttle_storage',
  'blob_storage',
  'channel_connections',
  'channels.leader_lease',
  'channels',
  'checkpointer',
  'database',
  'dedupe_storage',
  'deployment',
  'log_level',
  'logging',
  'mcp_tasks',
  'memory.backend_config',
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

let folder: string;
let path: string;
let warnings: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'startup-only-'));
  path = join(folder, 'config.yaml');
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function running(): LiveConfig {
  const location = { env: ENV, cwd: folder };
  const ignore = () => undefined;
  const log = { info: ignore, warn: (_: object, text: string) => void warnings.push(text), error: ignore };
  let ahead = 0;
  return createLiveConfig({ location, first: loadConfig(location), log, now: () => Date.now() + (ahead += 10) });
}

const valueAt = (config: Config, key: string): unknown =>
  key
    .split('.')
    .reduce<unknown>((value, part) => (value instanceof Object ? Reflect.get(value, part) : undefined), config);

test('what DeerFlow reads at its start only takes a restart here too, and nothing else does', () => {
  const covered = RESTART_KEYS.filter((key) => STARTUP_ONLY.includes(key));
  expect(covered).toEqual([...RESTART_KEYS]);
  const missing = STARTUP_ONLY.filter((key) => !RESTART_KEYS.some((known) => `${key}.`.startsWith(`${known}.`)));
  expect(missing).toEqual([]);
});

test('when every key is changed at once, those that take a restart stay as they were, and all others count', () => {
  writeFileSync(path, 'recursion_limit: 5\n');
  const live = running();
  const before = live.current().config;
  copyFileSync(EVERY_KEY, path);
  const after = live.current().config;
  const written = loadConfig({ env: ENV, cwd: folder }).config;
  for (const key of RESTART_KEYS) expect([key, valueAt(after, key)]).toEqual([key, valueAt(before, key)]);
  const others = Object.keys(written).filter((key) => !RESTART_KEYS.some((known) => known.split('.')[0] === key));
  for (const key of others) expect([key, valueAt(after, key)]).toEqual([key, valueAt(written, key)]);
  for (const key of ['skills.path', 'auth.oidc', 'auth.local.lockout_seconds', 'memory.mode']) {
    expect([key, valueAt(after, key)]).toEqual([key, valueAt(written, key)]);
  }
  expect(warnings.filter((text) => text.startsWith('takes effect after a restart'))).toEqual([
    `takes effect after a restart: ${RESTART_KEYS.join(', ')}`,
  ]);
});

test('a wrong value where only a restart would look is told at once, as that restart would end with it', () => {
  writeFileSync(path, 'recursion_limit: 5\n');
  const live = running();
  writeFileSync(path, 'recursion_limit: 6\ndatabase: {pool_size: many}\n');
  expect(live.current().config.recursion_limit).toBe(5);
  expect(live.fault()).toBe('config.yaml:2: database.pool_size: expected a number, got text');
});

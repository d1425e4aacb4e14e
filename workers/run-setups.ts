/** The configurations that this worker's runs began with, and what is made of them: models and tools. */
import type { RunSetup, RunSetups } from '../activities';
import { lostModels, restoreSnapshot, takeSnapshot } from '../config';
import type { EnvironmentVariables, LiveConfig, LoadedConfig } from '../config';
import { AppError, isAppError } from '../contracts';
import type { Config } from '../contracts/schemas/config';
import type { RunConfigurationStore } from '../db';
import type { Logger } from '../observability';

export interface RunSetupsOptions {
  live: LiveConfig;
  env: EnvironmentVariables;
  configurations: RunConfigurationStore;
  build: (config: Config) => Promise<RunSetup>;
  /** Told of each configuration that runs will begin with from now on. */
  onNewest?: (setup: RunSetup) => void;
  log: Logger;
  /** Setups kept; one that is asked for later is made again. */
  maxSetups?: number;
}

interface Kept {
  body: string;
  hasPlaces: boolean;
  /** Signature of the configuration that its secrets are from. */
  secretsOf: string;
  /** Models that are missing, because their secrets are gone. */
  lost: ReturnType<typeof lostModels>;
  setup: RunSetup;
}

interface Newest {
  loaded: LoadedConfig;
  result: ReturnType<RunSetups['newest']>;
}

const MAX_SETUPS = 20;

export function createRunSetups(options: RunSetupsOptions): RunSetups {
  const { live, env, configurations, build, onNewest, log, maxSetups = MAX_SETUPS } = options;
  const kept = new Map<string, Kept>();
  const underWay = new Map<string, Promise<Kept>>();
  let newest: Newest | null = null;

  function keep(hash: string, entry: Kept): void {
    kept.delete(hash);
    kept.set(hash, entry);
    const [oldest] = kept.keys();
    if (kept.size > maxSetups && oldest !== undefined) kept.delete(oldest);
  }

  async function setUp(loaded: LoadedConfig): ReturnType<RunSetups['newest']> {
    const { hash, body, hasPlaces } = takeSnapshot(loaded.document);
    const setup = await build(loaded.config);
    onNewest?.(setup);
    keep(hash, { body, hasPlaces, secretsOf: loaded.signature, lost: new Map(), setup });
    return { ...setup, hash, body };
  }

  function setUpNewest(): ReturnType<RunSetups['newest']> {
    const loaded = live.current();
    if (newest?.loaded === loaded) return newest.result;
    const result = setUp(loaded);
    const entry = { loaded, result };
    newest = entry;
    // The next who asks tries again.
    result.catch(() => (newest === entry ? (newest = null) : undefined));
    return result;
  }

  async function restore(hash: string, known: Kept | undefined): Promise<Kept> {
    const body = known?.body ?? (await configurations.body(hash));
    if (body === null) throw new AppError('configuration', 'The configuration that this run began with is gone.');
    const loaded = live.current();
    const lost = lostModels(body, loaded.document);
    // Not those that this worker still has.
    for (const [name, problem] of lost) if (known?.lost.has(name) === false) throw problem;
    const setup = await build(restoreSnapshot(body, loaded.document, env, lost));
    const hasPlaces = body.includes('"$secret"');
    const entry = { body, hasPlaces, secretsOf: loaded.signature, lost, setup };
    keep(hash, entry);
    return entry;
  }

  /** With the secrets of today; a run that this worker knows goes on with its own where there are none any more. */
  async function refresh(hash: string, known: Kept | undefined): Promise<Kept> {
    try {
      return await restore(hash, known);
    } catch (error) {
      if (known === undefined || !isAppError(error, 'configuration')) throw error;
      log.warn({ err: error }, 'a run goes on with secrets that are no longer in the configuration');
      const entry = { ...known, secretsOf: live.current().signature };
      keep(hash, entry);
      return entry;
    }
  }

  async function entryOf(hash: string): Promise<Kept> {
    const known = kept.get(hash);
    if (known !== undefined && (!known.hasPlaces || known.secretsOf === live.current().signature)) {
      keep(hash, known);
      return known;
    }
    // Many steps may ask at once; they share one.
    const shared = underWay.get(hash);
    if (shared !== undefined) return shared;
    const refreshed = refresh(hash, known).finally(() => underWay.delete(hash));
    underWay.set(hash, refreshed);
    return refreshed;
  }

  return {
    newest: async () => setUpNewest(),
    async of({ configHash, modelName = null }) {
      if (configHash === null) return setUpNewest();
      const { lost, setup } = await entryOf(configHash);
      const problem = lost.get(modelName);
      if (problem !== undefined) throw problem;
      return setup;
    },
  };
}

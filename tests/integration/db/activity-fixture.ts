import { randomBytes } from 'node:crypto';
import { createConversationCache, createNextTurns, createPlannedCalls } from '../../../activities';
import type { ActivityDependencies, RunSetup, RunSetups } from '../../../activities';
import type { Stores } from '../../../db';
import { createLogger } from '../../../observability';
import { createThreadPaths } from '../../../sandbox';
import type { SandboxFixture } from '../../unit/sandbox/support';

/** One configuration for all runs. */
export function fixedSetups(setup: RunSetup): RunSetups {
  const newest = { ...setup, hash: 'fixed', body: '{}' };
  return { newest: () => Promise.resolve(newest), of: () => Promise.resolve(newest) };
}

/** What activities need, over a real database and real files; what a test does not replace fails when it is used. */
export function activityDependencies(
  stores: Stores,
  files: SandboxFixture,
  changes: Partial<ActivityDependencies & RunSetup> = {},
): ActivityDependencies {
  const unused = () => Promise.reject(new Error('This test needs no workflow.'));
  const { config = files.config, models, tools, ...others } = changes;
  const setup: RunSetup = {
    config,
    models: models ?? {
      names: () => [],
      resolve: () => {
        throw new Error('This test asks no model.');
      },
      adjustments: () => [],
    },
    tools: tools ?? { tools: [], names: [], definitions: [], inactive: [], find: () => undefined },
  };
  return {
    stores,
    setups: fixedSetups(setup),
    sandboxes: files.provider,
    gateway: { start: unused, cancel: unused, state: unused },
    conversations: createConversationCache(stores.turns),
    plannedCalls: createPlannedCalls(),
    nextTurns: createNextTurns(),
    permits: { call: (_model, _settings, work) => work(), attempt: (_wish, work) => work() },
    paths: createThreadPaths({ home: files.home }),
    ownTaskQueue: 'host/test',
    webhookKey: randomBytes(32),
    log: createLogger({ name: 'test', level: 'fatal' }),
    ...others,
  };
}

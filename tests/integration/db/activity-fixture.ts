import { randomBytes } from 'node:crypto';
import { createConversationCache, createNextTurns, createPlannedCalls } from '../../../activities';
import type { ActivityDependencies } from '../../../activities';
import type { Stores } from '../../../db';
import { createLogger } from '../../../observability';
import { createThreadPaths } from '../../../sandbox';
import type { SandboxFixture } from '../../unit/sandbox/support';

/** What activities need, over a real database and real files; what a test does not replace fails when it is used. */
export function activityDependencies(
  stores: Stores,
  files: SandboxFixture,
  changes: Partial<ActivityDependencies> = {},
): ActivityDependencies {
  const unused = () => Promise.reject(new Error('This test needs no workflow.'));
  return {
    config: files.config,
    stores,
    models: {
      names: () => [],
      resolve: () => {
        throw new Error('This test asks no model.');
      },
      adjustments: () => [],
    },
    tools: { tools: [], names: [], definitions: [], inactive: [], find: () => undefined },
    sandboxes: files.provider,
    gateway: { start: unused, cancel: unused, state: unused },
    conversations: createConversationCache(stores.turns),
    plannedCalls: createPlannedCalls(),
    nextTurns: createNextTurns(),
    paths: createThreadPaths({ home: files.home }),
    ownTaskQueue: 'host/test',
    webhookKey: randomBytes(32),
    log: createLogger({ name: 'test', level: 'fatal' }),
    ...changes,
  };
}

import type { Stores } from '../db';
import type { Logger } from '../observability';
import type { SandboxProvider, ThreadPaths } from '../sandbox';
import type { RunGateway } from '../temporal';
import type { ConversationCache } from './conversation-cache';
import type { ModelPermits } from './model-permits';
import type { NextTurns } from './next-turns';
import type { PlannedCalls } from './planned-calls';
import type { RunSetups } from './run-setups';

/** Everything that activities act through. Built once per worker by its composition root. */
export interface ActivityDependencies {
  stores: Stores;
  /** Configurations of runs, with their models and tools. */
  setups: RunSetups;
  sandboxes: SandboxProvider;
  gateway: RunGateway;
  /** Polled by this worker alone: for what is under way in its process. */
  ownTaskQueue: string;
  conversations: ConversationCache;
  plannedCalls: PlannedCalls;
  nextTurns: NextTurns;
  /** When models may be asked, over all workers. */
  permits: ModelPermits;
  /** Where thread files are. */
  paths: ThreadPaths;
  /** Signs webhooks, so that a receiver knows who calls. */
  webhookKey: Buffer;
  log: Logger;
}

import type { Config } from '../contracts/schemas/config';
import type { Stores } from '../db';
import type { ChatModelFactory } from '../models';
import type { Logger } from '../observability';
import type { SandboxProvider, ThreadPaths } from '../sandbox';
import type { RunGateway } from '../temporal';
import type { ToolRegistry } from '../tools';
import type { ConversationCache } from './conversation-cache';
import type { ModelPermits } from './model-permits';
import type { NextTurns } from './next-turns';
import type { PlannedCalls } from './planned-calls';

/** Everything that activities act through. Built once per worker by its composition root. */
export interface ActivityDependencies {
  config: Config;
  stores: Stores;
  models: ChatModelFactory;
  tools: ToolRegistry;
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

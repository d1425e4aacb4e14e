import type { LiveExtensions } from '../config';
import type { Config } from '../contracts/schemas/config';
import type { Listener, Stores } from '../db';
import type { Logger } from '../observability/logger';
import type { RunGateway } from '../temporal';
import type { ManagedModelCatalogue } from './managed-models/catalogue';
import type { RunFeeds } from './sse/run-feeds';

/** What the process settings say about the HTTP face. */
export interface ApiSettings {
  /** Runtime home: where thread files are. */
  home: string;
  docsEnabled: boolean;
  corsOrigins: readonly string[];
  /** Programs that MCP servers may be started with over the API, beside the usual ones. */
  mcpCommands: readonly string[];
  /** Milliseconds between two signs of life on a stream; clients take three times as much for a dead connection. */
  heartbeatMs: number;
}

/** Who asks. Filled in by the identity middleware, the one place that decides it. */
export interface Identity {
  owner: string;
  email: string;
  role: 'admin' | 'user' | 'internal';
}

/** What the routes of managed models need. */
export interface ManagedModelAccess {
  catalogue: ManagedModelCatalogue;
  /** The configuration without managed models. */
  fileConfig: () => Config;
}

export interface ApiDependencies {
  /** The configuration as it is now, managed models included; read per request. */
  config(): Config;
  /** What is wrong with the configuration's file as it is now; null where nothing is. */
  configFault(): string | null;
  /** `extensions_config.json` as it is now. */
  extensions: LiveExtensions;
  settings: ApiSettings;
  stores: Stores;
  managedModels: ManagedModelAccess;
  gateway: RunGateway;
  feeds: RunFeeds;
  /** Wakes readers of run events. */
  listener: Listener;
  temporalReachable(timeoutMs: number): Promise<boolean>;
  /** Aborted when the process begins to stop: open streams end then, and nobody counts as having hung up. */
  shutdown: AbortSignal;
  log: Logger;
}

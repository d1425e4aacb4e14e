import type { Database } from './database';
import type { JournalStore } from './journal';
import { createJournalStore } from './journal';
import type { ManagedModelStore } from './managed-models';
import { createManagedModelStore } from './managed-models';
import type { MessageLog } from './message-log';
import { createMessageLog } from './message-log';
import type { ModelPermitStore } from './model-permits';
import { createModelPermitStore } from './model-permits';
import type { RunConfigurationStore } from './run-configurations';
import { createRunConfigurationStore } from './run-configurations';
import type { RunEventStore } from './run-events';
import { createRunEventStore } from './run-events';
import type { RunSecretStore } from './run-secrets';
import { createRunSecretStore } from './run-secrets';
import type { RunStore } from './runs';
import { createRunStore } from './runs';
import type { ThreadStore } from './threads';
import { createThreadStore } from './threads';
import type { ToolLedger } from './tool-ledger';
import { createToolLedger } from './tool-ledger';
import type { TurnStore } from './turns';
import { createTurnStore } from './turns';

/** All stores over one database. */
export interface Stores {
  threads: ThreadStore;
  runs: RunStore;
  log: MessageLog;
  events: RunEventStore;
  journal: JournalStore;
  ledger: ToolLedger;
  turns: TurnStore;
  secrets: RunSecretStore;
  permits: ModelPermitStore;
  configurations: RunConfigurationStore;
  managedModels: ManagedModelStore;
}

/** @param deploymentKey 32 bytes; seals request-scoped secrets. */
export function createStores(database: Database, deploymentKey: Buffer): Stores {
  return {
    threads: createThreadStore(database),
    runs: createRunStore(database),
    log: createMessageLog(database),
    events: createRunEventStore(database),
    journal: createJournalStore(database),
    ledger: createToolLedger(database),
    turns: createTurnStore(database),
    secrets: createRunSecretStore(database, deploymentKey),
    permits: createModelPermitStore(database),
    configurations: createRunConfigurationStore(database),
    managedModels: createManagedModelStore(database),
  };
}

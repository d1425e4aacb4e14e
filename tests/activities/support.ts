/** Activities as a worker has them, over a real database, real files and the scripted model, one call at a time. */
import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities, createWorkerModelCalls } from '../../activities';
import type { ActivityDependencies } from '../../activities';
import type { Message, RunActivities, RunOptions } from '../../contracts';
import type { AdmissionRequest } from '../../db';
import { createChatModelFactory } from '../../models';
import { createSilentLogger } from '../../observability';
import { createThreadPaths } from '../../sandbox';
import { createToolRegistry } from '../../tools';
import { activityDependencies, fixedSetups } from '../integration/db/activity-fixture';
import type { FakeModel } from '../support/fake-model';
import { startFakeModel } from '../support/fake-model';
import { admissionRequest, humanMessage, runOptions } from '../support/run-fixtures';
import type { TestDatabase } from '../support/test-database';
import { openTestDatabase } from '../support/test-database';
import type { SandboxFixture } from '../unit/sandbox/support';
import { createFixture, testConfig } from '../unit/sandbox/support';

export interface NewRun {
  threadId?: string;
  options?: Partial<RunOptions>;
  strategy?: AdmissionRequest['strategy'];
}

export interface Activities {
  db: TestDatabase;
  files: SandboxFixture;
  model: FakeModel;
  deps: ActivityDependencies;
  /** Ids of runs whose workflow was started, in order. */
  started: string[];
  /** Stores a run as the API does. */
  admit(run?: NewRun): Promise<{ threadId: string; runId: string }>;
  messages(threadId: string): Promise<Message[]>;
  /** Folder of a thread's workspace on this host. */
  workspace(threadId: string): string;
  close(): Promise<void>;
}

function scriptedModel(name: string, { baseUrl }: FakeModel): Record<string, unknown> {
  return { name, use: 'langchain_openai:ChatOpenAI', model: name, api_key: 'k', base_url: baseUrl };
}

export async function openActivities(): Promise<Activities> {
  const model = await startFakeModel();
  const db = await openTestDatabase();
  const files = await createFixture({
    sandbox: { use: 'deerflow.sandbox.local:LocalSandboxProvider', allow_host_bash: true },
    config: {
      models: [
        scriptedModel('scripted', model),
        // Writes titles, where a test asks for them.
        scriptedModel('namer', model),
      ],
    },
  });
  const { config } = files;
  const started: string[] = [];
  const deps = activityDependencies(db.stores, files, {
    models: createChatModelFactory({ config, log: createSilentLogger() }),
    tools: createToolRegistry({ config, commandsAllowed: true }),
    gateway: {
      start: async ({ runId }) => void started.push(runId),
      cancel: async () => undefined,
      state: async () => 'running',
    },
  });
  return {
    db,
    files,
    model,
    deps,
    started,
    async admit({ threadId = randomUUID(), options, strategy = 'reject' } = {}) {
      const request = admissionRequest({
        threadId,
        strategy,
        options: runOptions({ messages: [humanMessage('hello')], ...options }),
      });
      const { row } = await db.stores.runs.admit(request);
      return { threadId, runId: row.runId };
    },
    async messages(threadId) {
      return (await db.stores.log.state(threadId)).messages.map((text) => JSON.parse(text) as Message);
    },
    workspace: (threadId) => createThreadPaths({ home: files.home }).directories('default', threadId).workspace,
    async close() {
      await model.close();
      await files.close();
      await db.close();
    },
  };
}

/** The same activities under a configuration of their own. */
export async function underConfig(
  { deps, files }: Activities,
  changes: Record<string, unknown>,
): Promise<ActivityDependencies> {
  const { models, tools } = await deps.setups.newest();
  const config = testConfig({ config: { models: files.config.models, ...changes } });
  return { ...deps, setups: fixedSetups({ config, models, tools }) };
}

/** Failures are what most of these tests are about. */
const logger = new DefaultLogger('ERROR');

export interface Attempt<T> {
  environment: MockActivityEnvironment;
  result: Promise<T>;
}

/** One attempt of one activity, as a worker runs it. */
export function attempt<T>(
  deps: ActivityDependencies,
  work: (activities: RunActivities) => Promise<T>,
  number = 1,
): Attempt<T> {
  const environment = new MockActivityEnvironment({ attempt: number }, { logger });
  const result = environment.run<[], T, () => Promise<T>>(() =>
    work(createActivities(deps, createWorkerModelCalls(deps))),
  );
  result.catch(() => undefined);
  return { environment, result };
}

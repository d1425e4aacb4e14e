import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ActivityDependencies } from '../../../activities';
import { runTool } from '../../../activities/run-tool';
import type { CallKey, Stores } from '../../../db';
import type { Message } from '../../../contracts';
import type { Tool } from '../../../tools';
import { admissionRequest, aiMessage } from '../../support/run-fixtures';
import type { TestDatabase } from '../../support/test-database';
import { openTestDatabase } from '../../support/test-database';
import { createFixture, never } from '../../unit/sandbox/support';
import type { SandboxFixture } from '../../unit/sandbox/support';
import { activityDependencies } from './activity-fixture';

let db: TestDatabase;
let files: SandboxFixture;
beforeAll(async () => {
  db = await openTestDatabase();
  files = await createFixture();
});
afterAll(async () => {
  await files.close();
  await db.close();
});

/** A run whose newest reply asks for one call of `probe`. */
async function plannedCall(): Promise<CallKey & { threadId: string }> {
  const threadId = randomUUID();
  const { row } = await db.stores.runs.admit(admissionRequest({ threadId }));
  const { runId } = row;
  await db.stores.runs.begin(
    runId,
    { threadId, checkpoint: { step: 0, source: 'input' } },
    { modelName: 'm', configHash: null },
  );
  await db.stores.log.commit({
    threadId,
    runId,
    messages: [{ ...aiMessage('', 'reply'), tool_calls: [{ type: 'tool_call', id: 'c1', name: 'probe', args: {} }] }],
    toolCalls: [{ toolCallId: 'c1', turn: 1, place: 0, name: 'probe', messageId: 'reply' }],
    turn: { turn: 1, messageId: 'reply', outcome: {} },
  });
  return { threadId, runId, turn: 1, toolCallId: 'c1' };
}

/** Both of two attempts read the ledger before either goes on: as where a worker was taken for dead and was not. */
function readTogether(stores: Stores): Stores {
  let arrived = 0;
  let open = (): void => undefined;
  const both = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    ...stores,
    ledger: {
      ...stores.ledger,
      entry: async (key) => {
        const found = await stores.ledger.entry(key);
        arrived += 1;
        if (arrived >= 2) open();
        await both;
        return found;
      },
    },
  };
}

function dependencies(effect: Tool['effect'], onEffect: () => void): ActivityDependencies {
  const probe: Tool = {
    name: 'probe',
    description: 'Counts how often it is run.',
    schema: z.object({}),
    effect,
    pace: 'slow',
    timeoutMs: () => 5_000,
    execute: () => {
      onEffect();
      return Promise.resolve({ content: 'done', status: 'success' });
    },
  };
  return activityDependencies(readTogether(db.stores), files, {
    tools: {
      tools: [probe],
      names: ['probe'],
      definitions: [],
      inactive: [],
      find: (name) => (name === 'probe' ? probe : undefined),
    },
  });
}

async function results(threadId: string): Promise<string[]> {
  const { messages } = await db.stores.log.state(threadId);
  return messages
    .map((text) => JSON.parse(text) as Message)
    .filter(({ type }) => type === 'tool')
    .map(({ content }) => String(content));
}

describe('two attempts of one tool call at once', () => {
  test('a call with an effect has it once; the other attempt looks again and finds the result', async () => {
    const { threadId, ...key } = await plannedCall();
    let effects = 0;
    const deps = dependencies('unknown', () => (effects += 1));
    const attempts = await Promise.allSettled([runTool(deps, key, never), runTool(deps, key, never)]);
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(attempts).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ code: 'unavailable' }) as unknown }),
    );
    await runTool(deps, key, never);
    expect(effects).toBe(1);
    expect(await results(threadId)).toEqual(['done']);
  });

  test('a call that only reads has one result, and the slower attempt fails nothing', async () => {
    const { threadId, ...key } = await plannedCall();
    const deps = dependencies('none', () => undefined);
    await Promise.all([runTool(deps, key, never), runTool(deps, key, never)]);
    expect(await results(threadId)).toEqual(['done']);
  });
});

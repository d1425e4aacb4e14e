import { setTimeout as delay } from 'node:timers/promises';
import { call, say } from '../../support/fake-model';
import type { ApiClient, Product } from '../../support/product';
import { ask, createApiClient, startProduct } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import type { KillableServer, PrivateServers } from './private-servers';
import { startPrivateServers } from './private-servers';
import {
  contentOf,
  expectSeamless,
  lastId,
  lastText,
  model,
  readUntilBroken,
  startRun,
  streamedParts,
  toolResult,
  until,
  untilContent,
  workspaceFile,
} from './support';

let servers: PrivateServers;
let product: Product;
let api: ApiClient;

beforeAll(async () => {
  servers = await startPrivateServers();
  product = await startProduct({ services: servers });
  api = createApiClient(() => product.url);
}, 90_000);
afterAll(async () => {
  await product.close();
  await servers.close();
}, 90_000);
beforeEach(() => {
  product.model.requests.length = 0;
});

const SHORT_OUTAGE_MS = 2_000;

/** Longer than the server waits for a heartbeat: when it is back, it takes what is at work for dead. */
const LONG_OUTAGE_MS = 8_000;

/** Longest time for what is tried again with growing pauses. */
const RECOVERY_MS = 60_000;

async function outage(server: KillableServer, ms: number): Promise<void> {
  await server.kill();
  await delay(ms);
  await server.start();
}

/** A run with one effect, which has happened, and whose tool is still at work for a while. */
async function runInTool(name: string, seconds: number) {
  const threadId = await api.newThread();
  const effects = workspaceFile(product, threadId, 'effects.txt');
  const command = `echo begun >> ${effects.virtual}; sleep ${seconds}; echo ended >> ${effects.virtual}`;
  product.model.script(name, [call('bash', { command }, 'c1'), say('after the tool')]);
  const run = await startRun(api, 'go', { ...model(name), threadId });
  await untilContent(effects.host, 'begun');
  return { ...run, effects };
}

describe('PostgreSQL is killed and comes back', () => {
  test('while a reply is streamed and while a tool is at work: both runs go on, and the result of the tool is kept', async () => {
    product.model.script('scripted', [
      say('written while the database was away '.repeat(20), { delayMs: 50 }),
      say('written when the database was back'),
      say('written when the database was back'),
    ]);
    const reply = await startRun(api, 'go', { ...model('scripted'), stream_mode: ['messages-tuple', 'values'] });
    const tool = await runInTool('scripted-two', 1);
    await until(async () => (await streamedParts(product, reply.runId)) > 3, 'a reply in progress');
    await outage(servers.postgres, SHORT_OUTAGE_MS);

    for (const { threadId, runId } of [reply, tool]) {
      expect((await api.ended(threadId, runId, RECOVERY_MS)).status).toBe('success');
      await expectSoundRun(product.pool, runId);
    }
    expect(await lastText(api, reply.threadId)).toContain('written when the database was back');
    expect(await contentOf(tool.effects.host)).toBe('begun\nended\n');
    expect(await toolResult(api, tool.threadId, 'c1')).not.toContain('unknown');
    expect(await lastText(api, tool.threadId)).toBe('after the tool');
    product.model.assertClean();
  }, 120_000);

  test('clients get a plain 503 meanwhile, and the API serves them again without a restart', async () => {
    const threadId = await api.newThread();
    await servers.postgres.kill();
    const path = `/api/threads/${threadId}/runs`;
    const refused = await api.request('POST', path, ask('go', model('scripted')));
    expect(refused.status).toBe(503);
    expect(JSON.stringify(refused.body)).not.toMatch(/ECONN|127\.0\.0\.1|at .*\.js/);
    expect((await api.request('GET', path)).status).toBe(503);
    await servers.postgres.start();
    await until(async () => (await api.request('GET', path)).status === 200, 'an answer');
    expect((await api.request('GET', path)).body).toEqual([]);
  }, 90_000);
});

describe('Temporal is killed and comes back', () => {
  test('in mid-run: the run goes on, and what was at work is neither done again nor lost', async () => {
    const { threadId, runId, effects } = await runInTool('scripted', 4);
    await outage(servers.temporal, LONG_OUTAGE_MS);
    expect((await api.ended(threadId, runId, RECOVERY_MS)).status).toBe('success');
    expect(await contentOf(effects.host)).toBe('begun\nended\n');
    expect(await toolResult(api, threadId, 'c1')).not.toContain('unknown');
    expect(product.model.requests).toHaveLength(2);
    expect(await expectSoundRun(product.pool, runId)).toMatchObject({ llm_call_count: 2 });
  }, 90_000);

  test('a run that is accepted meanwhile starts, and one that is cancelled meanwhile ends', async () => {
    product.model.script('scripted', [say('better late')]);
    const cancelled = await runInTool('scripted-two', 15);
    await servers.temporal.kill();
    const [accepted, cancel] = await Promise.all([
      startRun(api, 'go', model('scripted')),
      api.request('POST', `/api/threads/${cancelled.threadId}/runs/${cancelled.runId}/cancel`),
    ]);
    expect(cancel.status).toBe(202);
    await servers.temporal.start();
    expect((await api.ended(accepted.threadId, accepted.runId, RECOVERY_MS)).status).toBe('success');
    expect(await lastText(api, accepted.threadId)).toBe('better late');
    expect((await api.ended(cancelled.threadId, cancelled.runId, RECOVERY_MS)).status).toBe('interrupted');
    await expectSoundRun(product.pool, accepted.runId);
    await expectSoundRun(product.pool, cancelled.runId);
    expect(product.model.requestsOf('scripted')).toHaveLength(1);
  }, 150_000);
});

describe('everything is killed at once: the API, the worker, PostgreSQL and Temporal', () => {
  test('after a restart the run goes on, the reader goes on, and nothing is done twice', async () => {
    const threadId = await api.newThread();
    const effects = workspaceFile(product, threadId, 'effects.txt');
    product.model.script('scripted', [
      call('bash', { command: `echo once >> ${effects.virtual}` }, 'c1'),
      say('cut off by the crash '.repeat(20), { delayMs: 50 }),
      say('the whole answer'),
    ]);
    const body = ask('go', { ...model('scripted'), stream_mode: ['messages-tuple', 'values', 'custom'] });
    const reading = readUntilBroken(api, `/api/threads/${threadId}/runs/stream`, body);
    await until(() => reading.frames.length > 0, 'the first frame');
    const runId = (reading.frames[0]?.data as { run_id: string }).run_id;
    await until(() => product.model.requests.length === 2 && reading.frames.length > 10, 'the second reply');
    await Promise.all([
      ...[...product.apis, ...product.workers].map((part) => part.kill()),
      servers.postgres.kill(),
      servers.temporal.kill(),
    ]);
    await reading.broken;

    await Promise.all([servers.postgres.start(), servers.temporal.start(), product.startWorker(), product.startApi()]);
    const { frames } = await api.stream({
      path: `/api/threads/${threadId}/runs/${runId}/stream`,
      lastEventId: lastId(reading.frames),
    });
    await expectSeamless(api, { threadId, runId }, [reading.frames, frames]);
    expect(await lastText(api, threadId)).toBe('the whole answer');
    expect(await contentOf(effects.host)).toBe('once\n');
    expect(product.model.requests).toHaveLength(3);
    expect(await expectSoundRun(product.pool, runId)).toMatchObject({ status: 'success', llm_call_count: 2 });
  }, 120_000);
});

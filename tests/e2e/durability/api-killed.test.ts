import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunRecord } from '../../../contracts';
import { call, say } from '../../support/fake-model';
import type { Frame, Product } from '../../support/product';
import { ask, createApiClient, startProduct } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import {
  apiOf,
  contentOf,
  expectSeamless,
  lastId,
  lastText,
  model,
  readUntilBroken,
  streamedParts,
  until,
  untilContent,
  workspaceFile,
} from './support';

let product: Product;

beforeAll(async () => {
  product = await startProduct({ apis: 2 });
});
afterAll(() => product.close());
beforeEach(() => {
  product.model.requests.length = 0;
});

const first = apiOf(() => product.apis[0]);
const second = apiOf(() => product.apis[1]);
const running = createApiClient(() => product.url);

function runIdOf(frames: readonly Frame[]): string {
  return (frames[0]?.data as { run_id: string }).run_id;
}

describe('an API process is killed with SIGKILL', () => {
  test('in mid-stream: the reader goes on at another process from its last id, without gap or repeat', async () => {
    product.model.script('scripted', [say('one word after another '.repeat(20), { delayMs: 25 })]);
    const threadId = await first.newThread();
    const path = `/api/threads/${threadId}/runs/stream`;
    const modes = ['messages-tuple', 'values', 'updates', 'custom'];
    const reading = readUntilBroken(first, path, ask('tell me', { ...model('scripted'), stream_mode: modes }));
    await until(() => reading.frames.length > 12, 'the middle of the stream');
    await product.apis[0]?.kill();
    await reading.broken;

    const runId = runIdOf(reading.frames);
    const { frames } = await second.stream({
      path: `/api/threads/${threadId}/runs/${runId}/stream`,
      lastEventId: lastId(reading.frames),
    });
    await expectSeamless(second, { threadId, runId }, [reading.frames, frames]);
    expect(frames.length).toBeGreaterThan(5);
    expect(await expectSoundRun(product.pool, runId)).toMatchObject({ status: 'success', llm_call_count: 1 });
    expect(product.model.requests).toHaveLength(1);
  });

  test('right after it accepted a run: the run is done all the same', async () => {
    const api = await product.startApi();
    const client = createApiClient(() => api.url);
    product.model.script('scripted', [say('done without you')]);
    const threadId = await client.newThread();
    const { body: run, status } = await client.request<RunRecord>(
      'POST',
      `/api/threads/${threadId}/runs`,
      ask('go', model('scripted')),
    );
    await api.kill();
    expect(status).toBe(200);
    expect((await second.ended(threadId, run.run_id)).status).toBe('success');
    expect(await lastText(second, threadId)).toBe('done without you');
    await expectSoundRun(product.pool, run.run_id);
  });

  test('at any moment of a request with an idempotency key: repeating the request gives one run, which is done', async () => {
    // The moments lie around those of storing the run and of starting its workflow.
    const moments = [3, 8, 15, 40];
    product.model.script(
      'scripted',
      moments.map(() => say('once')),
    );
    const threads: string[] = [];
    for (const moment of moments) {
      const api = await product.startApi();
      const client = createApiClient(() => api.url);
      const threadId = await client.newThread();
      threads.push(threadId);
      const key = randomUUID();
      const create = (to: typeof client) =>
        to.request<RunRecord>('POST', `/api/threads/${threadId}/runs`, ask('go', model('scripted')), {
          'idempotency-key': key,
        });
      const unheard = create(client).catch(() => null);
      await delay(moment);
      await api.kill();
      const heard = await unheard;
      const repeated = await create(running);
      expect(repeated.status).toBe(200);
      if (heard !== null) expect(repeated.body.run_id).toBe(heard.body.run_id);
    }

    const { rows } = await product.pool.query<{ runId: string; threadId: string }>(
      'select run_id as "runId", thread_id as "threadId" from runs where thread_id = any($1)',
      [threads],
    );
    expect(rows.map(({ threadId }) => threadId).sort()).toEqual(threads.sort());
    for (const { runId, threadId } of rows) {
      // Where the start was lost with the process, the reconciler makes it up.
      expect((await running.ended(threadId, runId, 40_000)).status).toBe('success');
      await expectSoundRun(product.pool, runId);
    }
    expect(product.model.requests).toHaveLength(moments.length);
  }, 120_000);
});

describe('the API and the only worker are killed together', () => {
  test('in mid-run: after a restart the reader gets all later frames and the run ends with success', async () => {
    await product.apis.find((part) => part.running)?.kill();
    const before = await product.startApi();
    const client = createApiClient(() => before.url);
    const threadId = await client.newThread();
    const effects = workspaceFile(product, threadId, 'effects.txt');
    product.model.script('scripted', [
      call('bash', { command: `echo once >> ${effects.virtual}` }, 'c1'),
      say('cut off by the crash '.repeat(20), { delayMs: 50 }),
      say('the whole answer'),
    ]);
    const body = ask('go', { ...model('scripted'), stream_mode: ['messages-tuple', 'values', 'custom'] });
    const reading = readUntilBroken(client, `/api/threads/${threadId}/runs/stream`, body);
    await untilContent(effects.host, 'once');
    await until(() => reading.frames.length > 0, 'the first frame');
    const runId = runIdOf(reading.frames);
    await until(async () => (await streamedParts(product, runId)) > 6, 'the middle of the second reply');
    await Promise.all([before.kill(), ...product.workers.map((worker) => worker.kill())]);
    await reading.broken;

    const [, after] = await Promise.all([product.startWorker(), product.startApi()]);
    const { frames } = await createApiClient(() => after.url).stream({
      path: `/api/threads/${threadId}/runs/${runId}/stream`,
      lastEventId: lastId(reading.frames),
    });
    await expectSeamless(running, { threadId, runId }, [reading.frames, frames]);
    expect(await lastText(running, threadId)).toBe('the whole answer');
    expect(await contentOf(effects.host)).toBe('once\n');
    // Each reply that was completed was asked for once; the third request repeats the one that was cut off.
    expect(product.model.requests).toHaveLength(3);
    expect(await expectSoundRun(product.pool, runId)).toMatchObject({ status: 'success', llm_call_count: 2 });
    product.model.assertClean();
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '../../contracts';
import { call, say } from '../support/fake-model';
import type { ApiClient, Frame, Product } from '../support/product';
import { ask, createApiClient, startProduct } from '../support/product';
import { expectIncreasing, expectSoundRun } from '../support/product/invariants';

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(() => product.url);
});
afterAll(() => product.close());

const ALL_MODES = ['messages-tuple', 'values', 'custom'];

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function restartWorker(): Promise<void> {
  await product.workers.find((worker) => worker.running)?.kill();
  await product.startWorker();
}

/** Text of the last message that a reader of the stream has, with parts of abandoned attempts replaced by `values`. */
function finalAnswer(frames: readonly Frame[]): string {
  const values = frames.filter((frame) => frame.event === 'values').at(-1)?.data as {
    messages: Array<{ content: string }>;
  };
  return values.messages.at(-1)?.content ?? '';
}

describe('the only worker is killed with SIGKILL', () => {
  test('in the middle of a streamed reply: the reply is asked for again, the reader of the stream loses nothing', async () => {
    product.model.script('scripted', [
      say('never to be finished '.repeat(50), { chunks: 100, delayMs: 50 }),
      say('the whole answer', { chunks: 4 }),
    ]);
    const threadId = await api.newThread();
    const reading = api.stream({
      path: `/api/threads/${threadId}/runs/stream`,
      body: ask('tell me', { stream_mode: ALL_MODES, context: { model_name: 'scripted' } }),
    });
    await until(async () => {
      const { rows } = await product.pool.query("select 1 from run_events where kind = 'text-delta'");
      return rows.length > 3;
    }, 'streamed text');
    await restartWorker();

    const { frames } = await reading;
    const runId = (frames[0]?.data as { run_id: string }).run_id;
    expect(frames.at(-1)).toEqual({ event: 'end', data: null, id: null });
    expectIncreasing(frames);
    expect(finalAnswer(frames)).toBe('the whole answer');
    const retry = frames.find((frame) => frame.event === 'custom');
    expect(retry?.data).toMatchObject({ type: 'llm_retry' });
    const chunkIds = new Set(
      frames
        .filter((frame) => frame.event === 'messages')
        .map((frame) => (frame.data as Array<{ id: string; type: string }>)[0])
        .filter((message) => message?.type === 'AIMessageChunk')
        .map((message) => message?.id),
    );
    expect(chunkIds.size).toBe(2);
    expect(await expectSoundRun(product.pool, runId)).toMatchObject({ status: 'success', llm_call_count: 1 });
    expect(product.model.requests).toHaveLength(2);
    product.model.assertClean();
  });

  test('between the start of a tool and its result: the tool is not run again, and the model is told', async () => {
    product.model.requests.length = 0;
    const mark = join('/mnt/user-data/workspace', 'log.txt');
    product.model.script('scripted', [
      call('bash', { command: `echo A >> ${mark}; sleep 8; echo B >> ${mark}` }, 'c1'),
      say('done'),
    ]);
    const threadId = await api.newThread();
    const { body: run } = await api.request<RunRecord>(
      'POST',
      `/api/threads/${threadId}/runs`,
      ask('go', { context: { model_name: 'scripted' } }),
    );
    const logFile = join(product.home, 'users/default/threads', threadId, 'user-data/workspace/log.txt');
    await until(
      () =>
        readFile(logFile, 'utf8').then(
          (text) => text === 'A\n',
          () => false,
        ),
      'the first effect',
    );
    await restartWorker();

    expect((await api.ended(threadId, run.run_id)).status).toBe('success');
    expect((await readFile(logFile, 'utf8')).match(/A/g)).toHaveLength(1);
    const { messages } = await api.values(threadId);
    const results = messages.filter((message) => message['tool_call_id'] === 'c1');
    expect(results).toHaveLength(1);
    expect(results[0]?.content).toContain('outcome is unknown');
    expect(product.model.requests).toHaveLength(2);
    expect(await expectSoundRun(product.pool, run.run_id)).toMatchObject({ llm_call_count: 2 });
    product.model.assertClean();

    product.model.script('scripted', [say('still alive')]);
    const again = await api.request<RunRecord>(
      'POST',
      `/api/threads/${threadId}/runs`,
      ask('and now?', { context: { model_name: 'scripted' } }),
    );
    expect((await api.ended(threadId, again.body.run_id)).status).toBe('success');
  });
});

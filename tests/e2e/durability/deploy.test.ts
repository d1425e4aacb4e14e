import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../../contracts';
import { hang, call, say } from '../../support/fake-model';
import type { ApiClient, Part, Product } from '../../support/product';
import { createApiClient, startProduct } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import {
  contentOf,
  lastText,
  model,
  startRun,
  streamedParts,
  toolResult,
  until,
  untilContent,
  workspaceFile,
} from './support';

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct({
    workers: 0,
    models: ['other', 'short-reply', 'long-reply', 'short-tool', 'long-tool'],
    config: {
      sandbox: { use: 'deerflow.sandbox.local:LocalSandboxProvider', allow_host_bash: true, bash_command_timeout: 80 },
    },
  });
  api = createApiClient(() => product.url);
});
afterAll(() => product.close());

function streamed(name: string): JsonObject {
  return { ...model(name), stream_mode: ['messages-tuple', 'values'] };
}

/** Does `begin` with one worker, so that everything it starts is there, and then starts a second one. */
async function withSecondWorker<T>(begin: () => Promise<T>): Promise<{ begun: T; old: Part }> {
  await Promise.all(product.workers.map((worker) => worker.stop()));
  const old = await product.startWorker();
  const begun = await begin();
  await product.startWorker();
  return { begun, old };
}

async function toolRun(name: string, command: string, end: string) {
  const threadId = await api.newThread();
  const effects = workspaceFile(product, threadId, 'effects.txt');
  product.model.script(name, [
    call('bash', { command: `echo begun >> ${effects.virtual}; ${command}; echo ended >> ${effects.virtual}` }, 'c1'),
    say(end),
  ]);
  const run = await startRun(api, 'go', { ...model(name), threadId });
  await untilContent(effects.host, 'begun');
  return { ...run, effects };
}

describe('a worker is stopped for a deploy (SIGTERM) while another runs', () => {
  test('steps that end within the grace period are done once, longer ones are handed over, and no run counts as stopped', async () => {
    product.model.script('short-reply', [say('finished in time '.repeat(10), { delayMs: 150 })]);
    product.model.script('long-reply', [hang(90_000), say('asked again')]);
    const { begun, old } = await withSecondWorker(async () => ({
      shortReply: await startRun(api, 'go', streamed('short-reply')),
      longReply: await startRun(api, 'go', model('long-reply')),
      shortTool: await toolRun('short-tool', 'sleep 5', 'after the short tool'),
      longTool: await toolRun('long-tool', 'sleep 90', 'after the long tool'),
    }));
    await until(async () => (await streamedParts(product, begun.shortReply.runId)) > 3, 'a reply in progress');
    await old.stop();
    expect(old.output).toContain('stopped');

    for (const { threadId, runId } of Object.values(begun)) {
      expect((await api.ended(threadId, runId)).status).toBe('success');
      await expectSoundRun(product.pool, runId);
    }
    const { shortReply, longReply, shortTool, longTool } = begun;
    expect(await lastText(api, shortReply.threadId)).toContain('finished in time');
    expect(product.model.requestsOf('short-reply')).toHaveLength(1);
    expect(await lastText(api, longReply.threadId)).toBe('asked again');
    expect(product.model.requestsOf('long-reply')).toHaveLength(2);
    expect(await contentOf(shortTool.effects.host)).toBe('begun\nended\n');
    expect(await toolResult(api, shortTool.threadId, 'c1')).not.toContain('unknown');
    // The tool that was cut off is not run again; its model is told that the outcome is unknown.
    expect(await contentOf(longTool.effects.host)).toBe('begun\n');
    expect(await toolResult(api, longTool.threadId, 'c1')).toContain('outcome is unknown');
    product.model.assertClean();
  }, 90_000);
});

describe('a worker freezes (SIGSTOP) while another runs', () => {
  test('for 12 s in the middle of a tool: the tool has its effect once, and its call has one result', async () => {
    const { begun, old } = await withSecondWorker(() => toolRun('short-tool', 'sleep 3', 'after the freeze'));
    await whileFrozen(old, () => delay(12_000));
    expect((await api.ended(begun.threadId, begun.runId)).status).toBe('success');
    await old.stop();
    expect(await contentOf(begun.effects.host)).toBe('begun\nended\n');
    await toolResult(api, begun.threadId, 'c1');
    expect(await expectSoundRun(product.pool, begun.runId)).toMatchObject({ llm_call_count: 2 });
  }, 60_000);

  test('for 12 s in the middle of a model call: whoever answers first counts, and every effect is there once', async () => {
    // Which attempt wins is open: the server may hand the repetition to the frozen worker too.
    const plan = 'PLAN:tools=3 tool=write delay=1500';
    const { begun, old } = await withSecondWorker(async () => {
      const run = await startRun(api, plan, model('other'));
      await until(() => product.model.requestsOf('default').length > 0, 'a call of the model');
      return run;
    });
    await whileFrozen(old, () => delay(12_000));
    expect((await api.ended(begun.threadId, begun.runId, 50_000)).status).toBe('success');
    await old.stop();
    const { host } = workspaceFile(product, begun.threadId, '.');
    expect(await readdir(host)).toHaveLength(3);
    expect(await expectSoundRun(product.pool, begun.runId)).toMatchObject({ llm_call_count: 4 });
  }, 90_000);
});

async function whileFrozen<T>(worker: Part, work: () => Promise<T>): Promise<T> {
  worker.signal('SIGSTOP');
  try {
    return await work();
  } finally {
    worker.signal('SIGCONT');
  }
}

describe('a cancel is accepted while no worker runs', () => {
  test('the run ends as interrupted when one comes back, and the model is not asked', async () => {
    await Promise.all(product.workers.map((worker) => worker.stop()));
    product.model.requests.length = 0;
    const { threadId, runId } = await startRun(api, 'go', model('scripted'));
    const { status } = await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel`);
    expect(status).toBe(202);
    await product.startWorker();
    expect((await api.ended(threadId, runId)).status).toBe('interrupted');
    expect(product.model.requests).toEqual([]);
    expect(await expectSoundRun(product.pool, runId)).toMatchObject({ llm_call_count: 0 });
  });
});

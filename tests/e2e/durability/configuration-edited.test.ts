import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { JsonObject } from '../../../contracts';
import { call, say } from '../../support/fake-model';
import type { ApiClient, Product } from '../../support/product';
import { createApiClient, startProduct } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import type { StartedRun } from './support';
import { lastText, startRun, toolResult, until, untilContent, workspaceFile } from './support';

const KEY = 'the-key-in-the-environment';
let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct({ env: { MODEL_KEY: KEY } });
  api = createApiClient(() => product.url);
});
afterAll(() => product.close());

/** The file's only model answers with what is scripted under this name. */
async function configure(model: string, extra: JsonObject = {}, apiKey = '$MODEL_KEY'): Promise<void> {
  const document = {
    models: [
      {
        name: `${model}-entry`,
        use: 'langchain_openai:ChatOpenAI',
        model,
        api_key: apiKey,
        base_url: product.model.baseUrl,
      },
    ],
    sandbox: { use: 'deerflow.sandbox.local:LocalSandboxProvider', allow_host_bash: true, bash_command_timeout: 20 },
    ...extra,
  };
  await writeFile(join(product.home, 'config.yaml'), stringify(document));
  const isShown = async () => {
    const { body } = await api.request<{ models: Array<{ name: string }> }>('GET', '/api/models');
    return body.models.map(({ name }) => name).join() === `${model}-entry`;
  };
  await until(isShown, 'the new configuration', 1_000);
}

/** A run whose first step is a command that waits for a file; `release` makes it. */
async function heldRun(model: string): Promise<StartedRun & { release: string }> {
  const threadId = await api.newThread();
  const begun = workspaceFile(product, threadId, 'begun');
  const release = workspaceFile(product, threadId, 'release');
  const command = `echo yes > ${begun.virtual}; until [ -e ${release.virtual} ]; do sleep 0.05; done`;
  product.model.script(model, [
    call('bash', { command }, 'c1'),
    call('ls', { path: '/mnt/user-data' }, 'c2'),
    say('ended'),
  ]);
  const run = await startRun(api, 'go', { threadId });
  await untilContent(begun.host, 'yes');
  return { ...run, release: release.host };
}

function toolsOf(model: string, request: number): string[] {
  const { body } = product.model.requestsOf(model).at(request) ?? { body: {} };
  const tools = (body as { tools?: Array<{ function: { name: string } }> }).tools ?? [];
  return tools.map((tool) => tool.function.name);
}

const LESS: JsonObject = {
  recursion_limit: 1,
  tools: [{ name: 'ls', group: 'file:read', use: 'deerflow.sandbox.tools:ls_tool' }],
};

test('a run under way keeps its model, tools and limits while the file changes; the next run has the new ones', async () => {
  await configure('before');
  const old = await heldRun('before');
  await configure('after', LESS);
  product.model.script('after', [call('ls', { path: '/mnt/user-data' }, 'c1'), say('never asked for')]);
  const next = await startRun(api, 'go');
  const limited = await api.ended(next.threadId, next.runId);
  expect(limited.error).toMatchObject({ code: 'recursion_limit' });
  expect(toolsOf('after', 0).sort()).toEqual(['ls', 'present_files']);

  await writeFile(old.release, '');
  expect((await api.ended(old.threadId, old.runId)).status).toBe('success');
  expect(await lastText(api, old.threadId)).toBe('ended');
  expect(product.model.requestsOf('before')).toHaveLength(3);
  expect(toolsOf('before', 2)).toContain('bash');
  await expectSoundRun(product.pool, old.runId);
}, 60_000);

test('after a kill -9 another worker, which never saw the old file, goes on with what the run began with', async () => {
  await configure('killed-before');
  const old = await heldRun('killed-before');
  await configure('killed-after', LESS);
  await Promise.all(product.workers.map((worker) => worker.kill()));
  await product.startWorker();

  expect((await api.ended(old.threadId, old.runId, 50_000)).status).toBe('success');
  expect(await toolResult(api, old.threadId, 'c1')).toContain('outcome is unknown');
  expect(product.model.requestsOf('killed-before')).toHaveLength(3);
  expect(toolsOf('killed-before', 2)).toContain('bash');
  expect(product.model.requestsOf('killed-after')).toHaveLength(0);
  await expectSoundRun(product.pool, old.runId);
}, 90_000);

test('where another worker cannot find a key of the old file any more, the run ends and names its place', async () => {
  await configure('literal-before', {}, 'a-key-in-the-file');
  const old = await heldRun('literal-before');
  await configure('literal-after');
  await Promise.all(product.workers.map((worker) => worker.kill()));
  await product.startWorker();

  const { status, error } = await api.ended(old.threadId, old.runId, 50_000);
  expect([status, error?.code]).toEqual(['error', 'configuration']);
  expect(error?.message).toContain('models[literal-before-entry].api_key');
  const { rows } = await product.pool.query<{ text: string }>(
    "select string_agg(to_jsonb(c)::text, '') || (select to_jsonb(r)::text from runs r where run_id = $1) as text from run_configurations c",
    [old.runId],
  );
  expect(rows[0]?.text).toContain('literal-before');
  expect(rows[0]?.text).not.toContain('a-key-in-the-file');
}, 90_000);

test('what is stored of a configuration is there once for each content, and holds no key', async () => {
  await configure('stored');
  product.model.script('stored', [say('one'), say('two')]);
  const runs = [await startRun(api, 'go'), await startRun(api, 'go')];
  for (const { threadId, runId } of runs) expect((await api.ended(threadId, runId)).status).toBe('success');
  const { rows } = await product.pool.query<{ body: string; runs: number }>(
    `select c.body, count(*)::int as runs from run_configurations c join runs r on r.config_hash = c.hash
     where r.run_id = any($1) group by c.hash`,
    [runs.map(({ runId }) => runId)],
  );
  expect(rows).toEqual([{ body: expect.stringContaining('"$MODEL_KEY"') as string, runs: 2 }]);
  expect(rows[0]?.body).not.toContain(KEY);
  for (const part of [...product.workers, ...product.apis]) expect(part.output).not.toContain(KEY);
}, 60_000);

test('a file that breaks stops nothing: runs go on with the newest valid one, and the health page names the line', async () => {
  await configure('unbroken');
  product.model.script('unbroken', [say('once'), say('as before')]);
  const first = await startRun(api, 'go');
  expect((await api.ended(first.threadId, first.runId)).status).toBe('success');
  await writeFile(join(product.home, 'config.yaml'), 'models:\n  - name: a\n   use: [');
  const isStale = async () => {
    const { status, body } = await api.request<JsonObject>('GET', '/health/ready');
    return status === 200 && /^stale: config\.yaml:3: /.test(String(body['config']));
  };
  await until(isStale, 'the fault to be shown', 1_000);
  const { threadId, runId } = await startRun(api, 'go');
  expect((await api.ended(threadId, runId)).status).toBe('success');
  expect(await lastText(api, threadId)).toBe('as before');
}, 60_000);

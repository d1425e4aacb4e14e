import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { until, useProduct } from '../../e2e/acceptance/scenario';
import { say } from '../../support/fake-model';

/** What a configuration asks for and this product cannot give stops no start: the log says it, once. */
const used = useProduct({
  env: { GATEWAY_WORKERS: '2', DEER_FLOW_ENV_FILE: '/dev/null' },
  config: {
    database: { backend: 'postgres', postgres_url: 'postgresql://example.invalid/db' },
    channel_connections: { enabled: true },
    auth: { local: { throttle_storage: 'memory' } },
    mcp_tasks: { enabled: true },
    news: { anything: 1 },
    tools: [
      { name: 'ls', use: 'deerflow.sandbox.tools:ls_tool' },
      { name: 'web_search', use: 'deerflow.community.tavily.tools:web_search_tool' },
    ],
    models: null,
  },
});
const { api, run } = used;

interface Line {
  msg: string;
  keys?: string[];
  key?: string;
  tool?: string;
  model?: string;
}

function lines(output: string): Line[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

test('both processes warn of what several of them cannot share, of unknown sections and of keys without effect', () => {
  for (const { output } of [...used.product.apis, ...used.product.workers]) {
    const said = lines(output);
    expect(said.filter(({ key }) => key === 'auth.local.throttle_storage')).toHaveLength(1);
    expect(said.filter(({ msg }) => msg === 'config.yaml: news is unknown and has no effect')).toHaveLength(1);
    const inactive = said.find(({ msg }) => msg.includes('have no effect yet'))?.keys;
    expect(inactive).toEqual(['auth', 'channel_connections', 'database', 'mcp_tasks']);
  }
});

test('several workers on one host, not declared as instances, share one key for credentials, which its owner alone can read', async () => {
  expect((await readdir(used.product.home)).filter((name) => name.includes('credentials'))).toEqual([
    '.credentials_key',
  ]);
  expect((await stat(join(used.product.home, '.credentials_key'))).mode & 0o777).toBe(0o600);
});

test('a tool that is not available is named by the worker, and runs have the others', async () => {
  const said = lines(used.product.workers[0]?.output ?? '');
  expect(said.filter(({ tool }) => tool !== undefined)).toEqual([
    expect.objectContaining({ tool: 'web_search', msg: expect.stringContaining('not offered') as string }),
  ]);
  expect((await run(await api.newThread(), 'hi')).status).toBe('success');
});

test('a model that cannot be built is named by the worker, fails its own runs only, and names its key in the file', async () => {
  const path = join(used.product.home, 'config.yaml');
  const document = parse(await readFile(path, 'utf8')) as object;
  const entry = (name: string, use: string) => ({ name, use, model: name, api_key: 'k', base_url: used.model.baseUrl });
  const models = [
    entry('fine', 'langchain_openai:ChatOpenAI'),
    entry('mistyped', 'langchain_opanai:ChatOpenAI'),
    entry('missing', 'npm:@example/not-there#ChatModel'),
  ];
  await writeFile(path, stringify({ ...document, models }));
  const offered = async () => {
    const { body } = await api.request<{ models: object[] }>('GET', '/api/models');
    return body.models.length === 3;
  };
  await until(offered, 'the new models', 2_000);
  used.model.script('fine', [say('ok')]);
  expect((await run(await api.newThread(), 'go')).status).toBe('success');
  for (const [name, words] of [
    ['mistyped', /^config\.yaml: models\[1\]\.use: expected one of langchain_openai:ChatOpenAI/],
    ['missing', /^config\.yaml: models\[2\]\.use: .*npm install @example\/not-there/],
  ] as const) {
    const ended = await run(await api.newThread(), 'go', { context: { model_name: name } });
    expect(ended).toMatchObject({ status: 'error', error: { code: 'configuration' } });
    expect(ended.error?.message).toMatch(words);
    const said = lines(used.product.workers[0]?.output ?? '').filter(({ model }) => model === name);
    expect(said[0]?.msg).toMatch(/^this model cannot be used: config\.yaml: models\[\d\]\.use: /);
  }
});

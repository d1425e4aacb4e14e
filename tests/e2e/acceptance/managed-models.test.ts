import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../contracts';
import { call, say } from '../../support/fake-model';
import { useProduct } from './scenario';

const KEY = 'sk-managed-0123456789abcdef';
const used = useProduct({ apis: 2, config: { log_level: 'debug' } });
const { api, run } = used;

interface Saved {
  name: string;
  revision: string;
}

async function save(config: JsonObject, expected_revision: string | null = null): Promise<Saved> {
  const answer = await api.request<Saved>('PUT', '/api/managed-models', { config, expected_revision });
  expect(answer.status).toBe(200);
  return answer.body;
}

const modelAt = (model: string): JsonObject => ({ model, base_url: used.model.baseUrl, api_key: KEY });

async function storedText(): Promise<string> {
  const { pool } = used.product;
  const { rows: tables } = await pool.query<{ name: string }>(
    'select table_name as name from information_schema.tables where table_schema = current_schema()',
  );
  expect(tables.map(({ name }) => name)).toContain('managed_models');
  const texts = tables.map(async ({ name }) => {
    const { rows } = await pool.query<{ line: string }>(`select to_jsonb(t)::text as line from "${name}" t`);
    return rows.map(({ line }) => line).join('\n');
  });
  return (await Promise.all(texts)).join('\n');
}

it('answers runs from the moment that it is registered, with its key, and without a restart', async () => {
  used.model.script('first-id', [say('from the managed model')]);
  used.model.script('second-id', [say('from what it was changed to')]);
  const threadId = await api.newThread();
  const first = await save(modelAt('first-id'));
  expect(await run(threadId, 'hello', { context: { model_name: first.name } })).toMatchObject({ status: 'success' });
  await save({ ...modelAt('second-id'), name: first.name }, first.revision);
  expect(await run(threadId, 'again', { context: { model_name: first.name } })).toMatchObject({ status: 'success' });
  const { messages } = await api.values(threadId);
  const replies = messages.filter(({ type }) => type === 'ai').map(({ content }) => content);
  expect(replies).toEqual(['from the managed model', 'from what it was changed to']);
  const asked = [...used.model.requestsOf('first-id'), ...used.model.requestsOf('second-id')];
  expect(asked.length).toBeGreaterThan(1);
  for (const { headers } of asked) expect(headers.authorization).toBe(`Bearer ${KEY}`);
  expect(await storedText()).not.toContain(KEY);
});

it('can be tested by the built product, and a test changes nothing', async () => {
  used.model.script('tested', [call('connection_check')]);
  const before = await api.request('GET', '/api/managed-models');
  const answer = await api.request('POST', '/api/managed-models/test', { config: modelAt('tested') });
  expect([answer.status, answer.body]).toEqual([200, { ok: true, message: 'success' }]);
  expect((await api.request('GET', '/api/managed-models')).body).toEqual(before.body);
});

it('leaves its key in no log', async () => {
  const { workers, apis } = used.product;
  const output = [...workers, ...apis].map((part) => part.output).join('\n');
  expect(output).toContain('"level"');
  expect(output).not.toContain(KEY);
  expect(await readFile(join(used.product.home, '.credentials_key'), 'utf8')).toMatch(/^[\w-]{43}=$/);
});

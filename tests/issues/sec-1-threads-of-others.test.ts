import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Answer, ApiHarness } from '../support/api-harness';
import { startApiHarness } from '../support/api-harness';
import { scriptRun } from '../support/run-script';

/** The route for runs without a thread took the id of any thread: those of other users could be read and written. */
let api: ApiHarness;
let threadId: string;
let runId: string;
let upload: string;

const SECRET = 'the secret of alice';
const BOB = { 'x-test-owner': 'bob' };

beforeAll(async () => {
  api = await startApiHarness();
  threadId = randomUUID();
  await api.request('POST', '/api/threads', { thread_id: threadId, metadata: { note: SECRET } });
  const run = await api.request('POST', `/api/threads/${threadId}/runs`, { input: { messages: [SECRET] } });
  runId = (run.body as { run_id: string }).run_id;
  const script = await scriptRun(api.stores, runId);
  await script.begin(SECRET);
  await script.reply(SECRET);
  await script.finish();
  const folder = join(api.home, 'users/alice/threads', threadId, 'user-data/uploads');
  await mkdir(folder, { recursive: true });
  upload = join(folder, 'a.txt');
  await writeFile(upload, SECRET);
});
afterAll(() => api.close());

interface Operation {
  method: string;
  path: string;
}

/** Every operation of the description that names a thread or a run. */
async function operations(): Promise<Operation[]> {
  const { body } = await api.request('GET', '/openapi.json');
  const { paths } = body as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    /\{(thread_id|run_id)\}/.test(path)
      ? Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path }))
      : [],
  );
}

const BODIES: Array<[RegExp, unknown]> = [
  [/\/runs(\/stream|\/wait)?$/, { input: { messages: ['bob was here'] }, multitask_strategy: 'interrupt' }],
  [/\/regenerate\/prepare$/, { message_id: 'm' }],
  [/\/edit-regenerate\/prepare$/, { human_message_id: 'm', replacement_text: 'x' }],
  [/\/state\/checkpoint$/, { checkpoint: {} }],
  [/\/state$/, { values: { title: 'bob was here' }, metadata: { bob: true } }],
  [/\/artifacts\//, { content: 'x', expected_sha256: 'a'.repeat(64) }],
  [/\/branches$/, { message_id: 'm', message_ids: ['m'] }],
  [/\/suggestions$/, { messages: [{ role: 'user', content: 'x' }] }],
  [/\/threads\/[^/]+$/, { metadata: { bob: true } }],
];

/** The same request, once for the thread and run of alice and once for ids that nobody has. */
function send({ method, path }: Operation, thread: string, run: string): Promise<Answer> {
  const place = path
    .replace('{thread_id}', thread)
    .replace('{run_id}', run)
    .replace('{checkpoint_id}', randomUUID())
    .replace('{filename}', 'a.txt')
    .replace(/\{path\}/, 'mnt/user-data/uploads/a.txt');
  const sends = method === 'POST' || method === 'PUT' || method === 'PATCH';
  if (sends && /\/uploads$/.test(path)) return sendUpload(place);
  const body = BODIES.find(([form]) => form.test(path))?.[1] ?? {};
  return api.request(method, place, sends ? body : undefined, BOB);
}

async function sendUpload(path: string): Promise<Answer> {
  const form = new FormData();
  form.append('files', new Blob(['bob was here']), 'a.txt');
  const response = await fetch(api.url + path, { method: 'POST', body: form, headers: BOB });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as unknown };
}

const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** An answer without the ids that were asked for. */
function told({ status, text }: Answer): string {
  return `${status} ${text.replaceAll(ID, 'ID')}`;
}

async function everything(): Promise<unknown> {
  const { pool } = api.database.database;
  const tables = ['threads', 'thread_messages', 'thread_channels', 'checkpoints', 'run_journal', 'runs'];
  const rows = tables.map(async (table) => {
    const { rows: found } = await pool.query(
      `select to_jsonb(t)::text as row from ${table} t where thread_id = $1 order by 1`,
      [threadId],
    );
    return [table, found];
  });
  return [
    await Promise.all(rows),
    await readFile(upload, 'utf8'),
    [...api.gateway.started],
    [...api.gateway.cancelled],
  ];
}

test('whatever another user asks of a thread or a run, the answer is that it does not exist, and nothing happens', async () => {
  const before = await everything();
  const list = await operations();
  expect(list.length).toBeGreaterThan(30);
  for (const operation of list) {
    const foreign = await send(operation, threadId, runId);
    const what = `${operation.method} ${operation.path}`;
    expect(`${what}: ${told(foreign)}`).toMatch(/: 404 \{"detail":"(Thread|Run) ID not found"\}$/);
    expect(foreign.text).not.toContain(SECRET);
  }
  expect(await everything()).toEqual(before);
});

describe('a run without a thread that names the thread of another user', () => {
  test.each(['/api/runs', '/api/runs/wait', '/api/runs/stream'])(
    '(%s) is refused as for an unknown thread',
    async (path) => {
      const before = await everything();
      const input = { messages: ['bob was here'] };
      for (const place of ['configurable', 'context'] as const) {
        const config = { [place]: { thread_id: threadId }, configurable: { thread_id: threadId } };
        const answer = await api.request('POST', path, { input, config }, BOB);
        expect(answer).toMatchObject({ status: 404, body: { detail: `Thread ${threadId} not found` } });
      }
      expect(await everything()).toEqual(before);
    },
  );
});

test('a thread of another user cannot be taken over by making it again, nor found by a search', async () => {
  const made = await api.request('POST', '/api/threads', { thread_id: threadId }, BOB);
  expect(made.status).toBe(404);
  const found = await api.request('POST', '/api/threads/search', { metadata: { note: SECRET } }, BOB);
  expect(found.body).toEqual([]);
});

/** The file routes as part of the whole API, over the real database. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureThreadDirectories, threadLayout } from '../../../api/files/thread-directories';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import { admissionRequest } from '../../support/run-fixtures';
import { formOf } from './support';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness();
});
afterAll(() => api.close());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const directoriesOf = (threadId: string) => threadLayout(api.home).directories('alice', threadId);

function upload(threadId: string, owner = 'alice', prefix = '/api') {
  return fetch(`${api.url}${prefix}/threads/${threadId}/uploads`, {
    method: 'POST',
    headers: { 'x-test-owner': owner },
    body: formOf(['a.txt', 'hello']),
  });
}

test('a file goes in before its thread is made, comes out again, and goes when the thread is deleted', async () => {
  expect((await upload('chat', 'alice', '/api/langgraph')).status).toBe(200);
  expect((await api.request('POST', '/api/threads', { thread_id: 'chat' })).status).toBe(200);
  const address = '/threads/chat/artifacts/mnt/user-data/uploads/a.txt';
  expect((await api.request('GET', `/api${address}`)).text).toBe('hello');
  expect((await api.request('GET', `/api/langgraph${address}`)).text).toBe('hello');
  expect((await api.request('DELETE', '/api/threads/chat')).status).toBe(200);
  expect((await api.request('GET', `/api${address}`)).status).toBe(404);
  expect(existsSync(directoriesOf('chat').root)).toBe(false);
});

test('a thread of somebody else takes and shows no files', async () => {
  await api.request('POST', '/api/threads', { thread_id: 'private' });
  await upload('private');
  expect((await upload('private', 'bob')).status).toBe(404);
  const paths = ['uploads/list', 'uploads/limits', 'artifacts/mnt/user-data/uploads/a.txt', 'goal', 'mcp-tasks'];
  for (const path of paths) {
    const answer = await api.request('GET', `/api/threads/private/${path}`, undefined, { 'x-test-owner': 'bob' });
    expect([path, answer.status, answer.body]).toEqual([path, 404, { detail: 'Thread private not found' }]);
  }
});

test('while a run is on, an edit waits; once it has ended, the edit is saved and the thread is free again', async () => {
  await api.request('POST', '/api/threads', { thread_id: 'edited' });
  await ensureThreadDirectories(directoriesOf('edited'));
  const path = join(directoriesOf('edited').outputs, 'report.md');
  writeFileSync(path, 'old');
  const save = () =>
    api.request('PUT', '/api/threads/edited/artifacts/mnt/user-data/outputs/report.md', {
      content: 'new',
      expected_sha256: sha256('old'),
    });

  const { row } = await api.stores.runs.admit(admissionRequest({ threadId: 'edited', owner: 'alice' }));
  const refused = await save();
  expect([refused.status, refused.body]).toEqual([
    409,
    { detail: 'Thread has a run in flight. Save after the run finishes.' },
  ]);
  expect(readFileSync(path, 'utf8')).toBe('old');

  await api.stores.runs.end(row.runId, () => ({
    status: 'success',
    error: null,
    stopReason: null,
    rollback: false,
    threadStatus: 'idle',
    commit: {},
  }));
  const saved = await save();
  expect([saved.status, saved.body]).toEqual([
    200,
    { path: '/mnt/user-data/outputs/report.md', sha256: sha256('new'), size: 3 },
  ]);
  const next = await api.stores.runs.admit(admissionRequest({ threadId: 'edited', owner: 'alice' }));
  expect(next.created).toBe(true);
});

test('an unknown method is told what the path knows, a feature that is not built has no route', async () => {
  const wrong = await api.request('POST', '/api/models', {});
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
  expect((await api.request('GET', '/api/memory')).status).toBe(404);
  expect((await api.request('POST', '/api/scheduled-tasks', {})).status).toBe(405);
});

test('documentation is open to everybody, unless it is switched off', async () => {
  const asNobody = { 'x-test-owner': 'nobody' };
  for (const path of ['/docs', '/redoc', '/openapi.json']) {
    expect([path, (await api.request('GET', path, undefined, asNobody)).status]).toEqual([path, 200]);
  }
  expect((await api.request('GET', '/api/models', undefined, asNobody)).status).toBe(401);
  const closed = await startApiHarness({ settings: { docsEnabled: false } });
  try {
    for (const path of ['/docs', '/redoc', '/openapi.json', '/docs/swagger-ui.css']) {
      const answer = await closed.request('GET', path);
      expect([path, answer.status, answer.body]).toEqual([path, 404, { detail: 'Not Found' }]);
    }
  } finally {
    await closed.close();
  }
});

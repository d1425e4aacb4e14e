import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject, JsonValue, RunRecord } from '../../../contracts';
import { call, calls, fail, hang, say } from '../../support/fake-model';
import { useProduct } from './scenario';

const used = useProduct();
const { api, script, run, start, get } = used;

const OUTPUTS = '/mnt/user-data/outputs';

interface Uploaded {
  success: boolean;
  files: Array<{ filename: string; virtual_path: string; original_filename?: string }>;
  skipped_files: JsonValue[];
}

async function upload(threadId: string, ...files: Array<[name: string, content: string]>) {
  const form = new FormData();
  for (const [name, content] of files) form.append('files', new Blob([content]), name);
  const response = await fetch(`${used.product.url}/api/threads/${threadId}/uploads`, { method: 'POST', body: form });
  return { status: response.status, body: (await response.json()) as Uploaded };
}

function artifact(threadId: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${used.product.url}/api/threads/${threadId}/artifacts${path}`, init);
}

function save(threadId: string, path: string, content: string, expected_sha256: string) {
  return api.request<JsonObject>('PUT', `/api/threads/${threadId}/artifacts${path}`, { content, expected_sha256 });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function write(name: string, content = 'made by the agent\n') {
  return { tool: 'write_file', args: { path: `${OUTPUTS}/${name}`, content } };
}

function present(...names: string[]) {
  return call('present_files', { filepaths: names.map((name) => `${OUTPUTS}/${name}`) });
}

interface RunEventRow {
  seq: number;
  event_type: string;
  content: JsonObject;
}

function events(threadId: string, runId: string): Promise<RunEventRow[]> {
  return get<RunEventRow[]>(`/api/threads/${threadId}/runs/${runId}/events`);
}

async function receipt(threadId: string, { run_id: runId }: RunRecord): Promise<JsonObject | undefined> {
  const found = (await events(threadId, runId)).filter((event) => event.event_type === 'run.delivery');
  expect(found).toHaveLength(1);
  return found[0]?.content;
}

describe('an upload', () => {
  test('of more files than allowed is refused and leaves none behind', async () => {
    const threadId = await api.newThread();
    const eleven = Array.from({ length: 11 }, (_, index): [string, string] => [`f${index}.txt`, 'x']);
    expect((await upload(threadId, ...eleven)).status).toBe(413);
    expect(await get(`/api/threads/${threadId}/uploads/list`)).toEqual({ files: [], count: 0 });
    const folder = join(used.product.home, 'users/default/threads', threadId, 'user-data/uploads');
    expect(await readdir(folder).catch(() => [])).toEqual([]);
  });

  test('never leaves its directory, whatever it is called', async () => {
    const threadId = await api.newThread();
    const { body } = await upload(threadId, ['../../../../escaped.txt', 'x'], ['..\\..\\escaped2.txt', 'x']);
    for (const { virtual_path: path } of body.files) expect(path).toMatch(/^\/mnt\/user-data\/uploads\/[^/]+$/);
    const everywhere = await readdir(used.product.home, { recursive: true });
    const strays = everywhere.filter((path) => path.includes('escaped') && !path.includes('user-data/uploads/'));
    expect(strays).toEqual([]);
  });

  test('can be read by the agent at the path that the answer names', async () => {
    const threadId = await api.newThread();
    const { body } = await upload(threadId, ['report.txt', 'the numbers are fine\n']);
    const path = body.files[0]?.virtual_path ?? '';
    script(call('read_file', { path }), say('read'));
    await run(threadId, 'read it');
    expect(JSON.stringify(used.model.requests.at(-1)?.body.messages.at(-1))).toContain('the numbers are fine');
  });
});

describe('a file that a run made and presented', () => {
  test('is among the artifacts, can be fetched in parts, and its page never runs in the browser', async () => {
    script(
      calls([
        write('a.txt', 'hello artifact'),
        write('page.html', '<script>alert(1)</script>'),
        write('pic.svg', '<svg/>'),
      ]),
      present('a.txt', 'page.html', 'pic.svg'),
      say('there you are'),
    );
    const threadId = await api.newThread();
    const ended = await run(threadId, 'write');
    expect(ended.status).toBe('success');
    expect((await api.values(threadId)).artifacts).toEqual([
      `${OUTPUTS}/a.txt`,
      `${OUTPUTS}/page.html`,
      `${OUTPUTS}/pic.svg`,
    ]);

    expect(await (await artifact(threadId, `${OUTPUTS}/a.txt`)).text()).toBe('hello artifact');
    const part = await artifact(threadId, `${OUTPUTS}/a.txt`, { headers: { range: 'bytes=0-3' } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, 'hell', 'bytes 0-3/14']);
    const beyond = await artifact(threadId, `${OUTPUTS}/a.txt`, { headers: { range: 'bytes=100-' } });
    expect(beyond.status).toBe(416);
    for (const name of ['page.html', 'pic.svg']) {
      const { headers } = await artifact(threadId, `${OUTPUTS}/${name}`);
      expect(headers.get('content-disposition')).toMatch(/^attachment/);
    }
    const outside = await artifact(threadId, '/mnt/user-data/..%2f..%2f..%2fetc%2fpasswd');
    expect([400, 403]).toContain(outside.status);
  });

  test('can be saved by who knows its content, and only while no run is active', async () => {
    script(calls([write('a.txt', 'one'), write('tool.skill', 'zip')]), present('a.txt'), say('done'), hang(60_000));
    const threadId = await api.newThread();
    await run(threadId, 'write');
    const path = `${OUTPUTS}/a.txt`;
    expect((await save(threadId, path, 'two', sha256('something else'))).status).toBe(412);
    expect(await save(threadId, path, 'two', sha256('one'))).toMatchObject({
      status: 200,
      body: { sha256: sha256('two') },
    });
    expect(await (await artifact(threadId, path)).text()).toBe('two');
    expect((await save(threadId, `${OUTPUTS}/tool.skill`, 'x', sha256('zip'))).status).toBe(415);
    await upload(threadId, ['b.txt', 'b']);
    expect((await save(threadId, '/mnt/user-data/uploads/b.txt', 'x', sha256('b'))).status).toBe(400);

    const { run_id: runId } = await start(threadId, 'go on');
    await used.model.waitForRequests(4);
    expect((await save(threadId, path, 'three', sha256('two'))).status).toBe(409);
    await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`);
    expect((await save(threadId, path, 'three', sha256('two'))).status).toBe(200);
  });
});

describe('delivery', () => {
  const incomplete = 'Artifact delivery incomplete: no produced output artifact was presented';

  test('a run that made a file and presented it succeeds, and the receipt names it', async () => {
    script(calls([write('a.txt'), write('b.txt')]), present('a.txt'), say('done'));
    const threadId = await api.newThread();
    const ended = await run(threadId, 'write');
    expect(ended).toMatchObject({ status: 'success', error: null });
    expect(await receipt(threadId, ended)).toMatchObject({
      presented: 1,
      paths: [`${OUTPUTS}/a.txt`],
      produced_paths: [`${OUTPUTS}/a.txt`, `${OUTPUTS}/b.txt`],
      matched_paths: [`${OUTPUTS}/a.txt`],
      stage: 'presented',
      satisfied: true,
    });
  });

  test('a run that made a file and presented nothing ends as an error that says so', async () => {
    script(call('write_file', write('a.txt').args), say('all done!'));
    const threadId = await api.newThread();
    const ended = await run(threadId, 'write');
    expect(ended).toMatchObject({ status: 'error', error: { message: incomplete, code: 'artifact_delivery' } });
    expect(await receipt(threadId, ended)).toMatchObject({ satisfied: false, stage: 'not_started' });

    script(say('as before'));
    expect((await run(threadId, 'and now?')).status).toBe('success');
  });

  test('the same when the file came from a command, and when another was presented', async () => {
    const threadId = await api.newThread();
    script(call('write_file', write('old.txt').args), present('old.txt'), say('done'));
    await run(threadId, 'write');
    script(
      call('bash', { command: `mkdir -p ${OUTPUTS}/deep/er && echo x > ${OUTPUTS}/deep/er/new.txt` }),
      present('old.txt'),
      say('done'),
    );
    const ended = await run(threadId, 'again');
    expect(ended.error?.message).toBe(incomplete);
    expect(await receipt(threadId, ended)).toMatchObject({ satisfied: false, stage: 'mismatched' });
  });

  test('a folder that holds the file counts', async () => {
    script(call('write_file', write('folder/a.txt').args), present('folder'), say('done'));
    const threadId = await api.newThread();
    expect((await run(threadId, 'write')).status).toBe('success');
  });

  test('a file of the workspace need not be presented, and cannot be', async () => {
    script(
      call('write_file', { path: '/mnt/user-data/workspace/draft.txt', content: 'draft' }),
      call('present_files', { filepaths: ['/mnt/user-data/workspace/draft.txt'] }),
      say('done'),
    );
    const threadId = await api.newThread();
    const ended = await run(threadId, 'write');
    expect(ended.status).toBe('success');
    expect(await receipt(threadId, ended)).toMatchObject({ presented: 0, paths: [] });
    expect((await api.values(threadId)).artifacts ?? []).toEqual([]);
  });

  test('a run that fails or is cancelled has a receipt too', async () => {
    script(call('write_file', write('a.txt').args), fail(503));
    const threadId = await api.newThread();
    const failed = await run(threadId, 'write');
    expect(failed.error?.code).toBe('model_unavailable');
    expect(await receipt(threadId, failed)).toMatchObject({ satisfied: false });
    script(call('write_file', write('c.txt').args), hang(60_000));
    const { run_id: runId } = await start(threadId, 'again');
    await used.model.waitForRequests(used.model.requests.length + 2);
    await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`);
    expect(await receipt(threadId, await api.ended(threadId, runId))).toMatchObject({ satisfied: false });
  });

  test('events are numbered through all runs of a thread', async () => {
    script(say('one'), call('ls', { path: OUTPUTS }), say('two'));
    const threadId = await api.newThread();
    const runs = [await run(threadId, 'a'), await run(threadId, 'b')];
    const lists = await Promise.all(runs.map(({ run_id: runId }) => events(threadId, runId)));
    const numbers = lists.flat().map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
    expect(lists[1]?.map((event) => event.event_type)).toEqual(
      expect.arrayContaining([
        'run.start',
        'llm.human.input',
        'llm.ai.response',
        'llm.tool.result',
        'run.end',
        'run.delivery',
      ]),
    );
  });
});

describe('the workspace', () => {
  test('of a thread is kept between its runs and is no other thread’s', async () => {
    const note = '/mnt/user-data/workspace/note.txt';
    script(
      call('bash', { command: `echo remembered > ${note}` }),
      say('ok'),
      call('bash', { command: `cat ${note}` }),
      say('ok'),
    );
    const threadId = await api.newThread();
    await run(threadId, 'note');
    await run(threadId, 'read');
    const results = (await api.values(threadId)).messages.filter(({ type }) => type === 'tool');
    expect(results.at(-1)?.content).toContain('remembered');

    script(call('bash', { command: `cat ${note}` }), call('read_file', { path: note }), say('ok'));
    const other = await api.newThread();
    await run(other, 'read');
    expect(JSON.stringify(await api.values(other))).not.toContain('remembered');
  });

  test('is named to the model and the user as the agent sees it, never as this machine does', async () => {
    script(
      call('bash', { command: 'pwd; ls -la; echo $PWD; cat nothing-here; cd / && cd - ' }),
      call('read_file', { path: '/mnt/user-data/workspace/nothing-here' }),
      say('ok'),
    );
    const threadId = await api.newThread();
    const { run_id: runId } = await run(threadId, 'where are we?');
    const told = JSON.stringify(used.model.requests.map(({ body }) => body));
    const shown = JSON.stringify([await api.values(threadId), await events(threadId, runId)]);
    expect(told).not.toContain(used.product.home);
    expect(shown).not.toContain(used.product.home);
    expect(told).toContain('/mnt/user-data/workspace');
  });
});

import { createHash } from 'node:crypto';
import type { JsonObject } from '../../contracts';
import { calls, fail, say } from '../support/fake-model';
import type { ApiClient, Product } from '../support/product';
import { createApiClient, startProduct } from '../support/product';
import type { MessagesPage, WebUi } from './web-ui';
import { SEARCH, createWebUi, message, replay, runIdOf, spoken } from './web-ui';

let product: Product;
let api: ApiClient;
let ui: WebUi;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(() => product.url);
  ui = createWebUi(api, () => product.url);
});
afterAll(async () => {
  product.model.assertClean();
  await product.close();
});

const TEXT = expect.any(String);

const lines = (page: MessagesPage): string[] => spoken(page.data.map(({ content }) => content));
const state = (threadId: string) =>
  ui.read<{ values: { messages: never[]; title?: string } }>('GET', `/api/langgraph/threads/${threadId}/state`);

describe('files', () => {
  const PATH = '/mnt/user-data/outputs/red deer (1).md';
  const REPORT = '# Red deer\n\nEleven.\n';
  let threadId: string;
  let address: string;

  beforeAll(async () => {
    threadId = ui.threadId();
    await ui.createThread(threadId);
    product.model.script('scripted', [
      calls([{ tool: 'write_file', args: { description: 'Write it', path: PATH, content: REPORT } }]),
      calls([{ tool: 'present_files', args: { filepaths: [PATH] } }]),
      say('Here it is.'),
    ]);
    await ui.send(threadId, message(threadId, 'Write a report'));
    address = `${product.url}/api/threads/${threadId}/artifacts${PATH.split('/').map(encodeURIComponent).join('/')}`;
  });

  test('a presented file is on the list of the chat, also after a reload', async () => {
    const { history, page } = await ui.reload(threadId);
    expect(history[0]?.values.artifacts).toEqual([PATH]);
    const presenting = page.data.flatMap(({ content }) => (content['tool_calls'] ?? []) as JsonObject[]);
    expect(presenting.find(({ name }) => name === 'present_files')?.['args']).toEqual({ filepaths: [PATH] });
  });

  test('a file is opened by its first megabyte, with its SHA-256 as tag, and downloaded under its name', async () => {
    const opened = await fetch(address, { headers: { range: 'bytes=0-1048575' } });
    expect(opened.status).toBe(206);
    expect(opened.headers.get('content-range')).toBe(`bytes 0-${REPORT.length - 1}/${REPORT.length}`);
    expect(opened.headers.get('etag')?.replaceAll('"', '')).toBe(createHash('sha256').update(REPORT).digest('hex'));
    expect(await opened.text()).toBe(REPORT);
    const download = await fetch(`${address}?download=true`);
    expect(download.status).toBe(200);
    expect(download.headers.get('content-disposition')).toMatch(/^attachment;.*red%20deer/);
    expect(await download.text()).toBe(REPORT);
  });

  test('an edit is saved against the text that was opened, and never over a newer one', async () => {
    const path = address.slice(product.url.length);
    const opened = await fetch(address);
    const hash = String(opened.headers.get('etag')).replaceAll('"', '');
    const content = `${REPORT}\nTwelve.\n`;
    const saved = await api.request<{ sha256: string }>('PUT', path, { content, expected_sha256: hash });
    expect(saved).toMatchObject({ status: 200, body: { sha256: createHash('sha256').update(content).digest('hex') } });
    expect(await (await fetch(address)).text()).toBe(content);
    expect(await api.request('PUT', path, { content: REPORT, expected_sha256: hash })).toMatchObject({
      status: 412,
      body: { detail: TEXT },
    });
    const again = { content: REPORT, expected_sha256: saved.body.sha256 };
    const { headers } = await ui.send(threadId, message(threadId, 'PLAN:delay=3000'), { until: () => true });
    expect(await api.request('PUT', path, again)).toMatchObject({ status: 409, body: { detail: TEXT } });
    const cancel = `/api/langgraph/threads/${threadId}/runs/${runIdOf(headers)}/cancel?wait=1&action=interrupt`;
    expect((await api.request('POST', cancel)).status).toBe(204);
    expect((await api.request('PUT', path, again)).status).toBe(200);
  });

  test('an empty file answers the range with 416, which the web UI takes for empty', async () => {
    const empty = '/mnt/user-data/uploads/empty.txt';
    await ui.upload(threadId, [{ name: 'empty.txt', text: '' }]);
    const answer = await fetch(`${product.url}/api/threads/${threadId}/artifacts${empty}`, {
      headers: { range: 'bytes=0-1048575' },
    });
    if (answer.status === 416) expect(answer.headers.get('content-range')).toBe('bytes */0');
    else expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: '' });
  });
});

describe('the list of chats', () => {
  test('a new name shows in the list and in the state, and stays', async () => {
    const threadId = await ui.chat('PLAN:tokens=1');
    const renamed = await api.request('POST', `/api/langgraph/threads/${threadId}/state`, { values: { title: 'Elk' } });
    expect(renamed.status).toBe(200);
    expect((await ui.reload(threadId)).row?.values).toMatchObject({ title: 'Elk' });
    expect((await state(threadId)).values.title).toBe('Elk');
    await ui.say(threadId, 'PLAN:tokens=2');
    expect((await ui.reload(threadId)).row?.values).toMatchObject({ title: 'Elk' });
  });

  test('a pinned chat comes first, keeps its other marks and its place in time', async () => {
    const pinned = await ui.chat('PLAN:tokens=1');
    await api.request('PATCH', `/api/langgraph/threads/${pinned}`, { metadata: { agent_name: 'herd' } });
    const later = await ui.chat('PLAN:tokens=1');
    const before = (await ui.search()).find((row) => row.thread_id === pinned)?.updated_at;
    const mark = await api.request('PATCH', `/api/threads/${pinned}`, { metadata: { deerflow_pinned: true } });
    expect(mark).toMatchObject({ status: 200, body: { metadata: { agent_name: 'herd', deerflow_pinned: true } } });
    const [first, second] = await ui.search();
    expect(first).toMatchObject({ thread_id: pinned, updated_at: before, metadata: { agent_name: 'herd' } });
    expect(second?.thread_id).toBe(later);
    await api.request('PATCH', `/api/threads/${pinned}`, { metadata: { deerflow_pinned: false } });
    expect((await ui.search())[0]?.thread_id).toBe(later);
  });

  test('pages follow each other without a gap, and a short page is the last', async () => {
    const all = (await ui.search()).map((row) => row.thread_id);
    const paged: string[] = [];
    for (let size = 2; size === 2;) {
      const body = { ...SEARCH, limit: 2, offset: paged.length };
      const rows = await ui.read<Array<{ thread_id: string }>>('POST', '/api/langgraph/threads/search', body);
      paged.push(...rows.map((row) => row.thread_id));
      size = rows.length;
    }
    expect(paged).toEqual(all);
  });

  test('side conversations are made and found by what they belong to', async () => {
    const parent = await ui.chat('PLAN:tokens=1');
    const metadata = { deerflow_sidecar: true, parent_thread_id: parent };
    const made = await ui.read<{ thread_id: string }>('POST', '/api/threads', { metadata });
    await ui.send(made.thread_id, message(made.thread_id, 'PLAN:tokens=1'));
    const body = { metadata, limit: 1, offset: 0, sort_by: 'updated_at', sort_order: 'desc' };
    expect(await ui.read('POST', '/api/langgraph/threads/search', body)).toMatchObject([
      { thread_id: made.thread_id, metadata },
    ]);
  });

  test('a deleted chat is gone for every read, and deleting it through the other address too is no fault', async () => {
    const threadId = await ui.chat('PLAN:tokens=1');
    const [run] = await ui.read<Array<{ run_id: string }>>('GET', `/api/langgraph/threads/${threadId}/runs`);
    const sidecars = { metadata: { deerflow_sidecar: true, parent_thread_id: threadId }, limit: 100, offset: 0 };
    expect(
      await ui.read('POST', '/api/langgraph/threads/search', { ...sidecars, select: ['thread_id', 'metadata'] }),
    ).toEqual([]);
    expect(await api.request('DELETE', `/api/langgraph/threads/${threadId}`)).toMatchObject({
      status: 200,
      body: { success: true },
    });
    expect([200, 204, 404]).toContain((await api.request('DELETE', `/api/threads/${threadId}`)).status);
    expect((await ui.search()).map((row) => row.thread_id)).not.toContain(threadId);
    expect((await api.request('GET', `/api/langgraph/threads/${threadId}`)).status).toBe(404);
    expect((await api.request('GET', `/api/langgraph/threads/${threadId}/runs/${run?.run_id}`)).status).toBe(404);
    // The old address must not show the deleted chat.
    expect(await ui.page(threadId)).toMatchObject({ data: [] });
    expect(await ui.history(threadId)).toEqual([]);
    expect(await ui.read('GET', `/api/threads/${threadId}/token-usage`)).toMatchObject({ total_tokens: 0 });
  });

  test('an export holds the whole conversation', async () => {
    const threadId = await ui.chat('PLAN:tokens=1', 'PLAN:tokens=2');
    expect(spoken((await state(threadId)).values.messages)).toEqual([
      'human: PLAN:tokens=1',
      'ai: done w1',
      'human: PLAN:tokens=2',
      'ai: done w1 w2',
    ]);
  });
});

describe('doing a turn again', () => {
  let threadId: string;
  let before: MessagesPage;
  beforeEach(async () => {
    threadId = await ui.chat('PLAN:tokens=1');
    product.model.script('scripted', [say('Eleven.')]);
    await ui.say(threadId, 'How many?');
    before = await ui.page(threadId);
  });

  const prepare = (way: string, body: JsonObject) =>
    ui.read<JsonObject & { target_run_id: string }>('POST', `/api/threads/${threadId}/runs/${way}/prepare`, body);

  test('regenerate: the new answer takes the place of the old one, in pages and in state, also the second time', async () => {
    for (const text of ['Twelve.', 'Thirteen.']) {
      const answer = (await ui.page(threadId)).data.at(-1);
      const prepared = await prepare('regenerate', { message_id: String(answer?.content.id) });
      expect(prepared).toMatchObject({
        input: { messages: [{ type: 'human' }] },
        checkpoint: { checkpoint_ns: '', checkpoint_id: TEXT, checkpoint_map: null },
        metadata: { regenerate_from_run_id: answer?.run_id },
        target_run_id: answer?.run_id,
      });
      const asked = product.model.requests.length;
      product.model.script('scripted', [say(text)]);
      const { headers } = await ui.send(threadId, replay(threadId, prepared));
      const { page, history } = await ui.reload(threadId);
      expect(lines(page)).toEqual(['human: PLAN:tokens=1', 'ai: done w1', 'human: How many?', `ai: ${text}`]);
      expect(spoken(history[0]?.values.messages ?? [])).toEqual(lines(page));
      expect(page.data.map((row) => row.run_id)).not.toContain(answer?.run_id);
      expect(page.data.at(-1)?.run_id).toBe(runIdOf(headers));
      // Nor does the model read of the answers that were thrown away.
      expect(JSON.stringify(product.model.requests.slice(asked))).not.toMatch(/Eleven|Twelve/);
      expect(product.model.requests).toHaveLength(asked + 1);
    }
  });

  test('edit: the new question and its answer take the place of the last turn, and can be edited again', async () => {
    let question = String(before.data.findLast(({ content }) => content.type === 'human')?.content.id);
    for (const [suffix, text] of [
      ['__user', 'How many stags?'],
      ['', 'How many hinds?'],
    ]) {
      const body = { human_message_id: `${question}${suffix}`, replacement_text: String(text) };
      const prepared = await prepare('edit-regenerate', body);
      expect(prepared).toMatchObject({ replacement_human_message_id: TEXT, source_message_ids: expect.any(Array) });
      product.model.script('scripted', [say(`About "${text}": none.`)]);
      await ui.send(threadId, replay(threadId, prepared));
      const { page, history } = await ui.reload(threadId);
      expect(lines(page)).toEqual([
        'human: PLAN:tokens=1',
        'ai: done w1',
        `human: ${text}`,
        `ai: About "${text}": none.`,
      ]);
      expect(spoken(history[0]?.values.messages ?? [])).toEqual(lines(page));
      question = String(prepared['replacement_human_message_id']);
    }
  });

  test('what cannot be done again is refused with a text to show', async () => {
    const [question, answer] = before.data;
    const ways: Array<[path: string, body: JsonObject]> = [
      ['runs/regenerate/prepare', { message_id: String(answer?.content.id) }],
      ['runs/edit-regenerate/prepare', { human_message_id: String(question?.content.id), replacement_text: 'Why?' }],
      ['branches', { message_id: 'nothing', message_ids: [] }],
    ];
    for (const [path, body] of ways) {
      const refused = await api.request<JsonObject>('POST', `/api/threads/${threadId}/${path}`, body);
      expect({ path, ...refused }).toMatchObject({ path, status: 409, body: { detail: TEXT } });
    }
  });

  test('a question done again that fails leaves the conversation as it was', async () => {
    const question = before.data.findLast(({ content }) => content.type === 'human')?.content.id;
    const body = { human_message_id: String(question), replacement_text: 'How many stags?' };
    const prepared = await prepare('edit-regenerate', body);
    product.model.script('scripted', [fail(401, { times: 1 })]);
    const { headers, frames } = await ui.send(threadId, replay(threadId, prepared));
    expect(frames.slice(-2)).toMatchObject([{ event: 'error', data: { name: TEXT, message: TEXT } }, { event: 'end' }]);
    expect(
      spoken((frames.findLast(({ event }) => event === 'values')?.data as { messages: never[] }).messages),
    ).toEqual(lines(before));
    expect(await api.ended(threadId, runIdOf(headers))).toMatchObject({ status: 'error' });
    const { page, history } = await ui.reload(threadId);
    expect(spoken(history[0]?.values.messages ?? [])).toEqual(lines(before));
    expect(lines(page)).toEqual(lines(before));
    expect(await ui.read('GET', `/api/langgraph/threads/${threadId}`)).toMatchObject({ status: 'idle' });
    await ui.say(threadId, 'PLAN:tokens=1');
    expect(lines(await ui.page(threadId))).toEqual([...lines(before), 'human: PLAN:tokens=1', 'ai: done w1']);
  });

  test('a replay that is stopped before it began leaves the turn that it was to replace', async () => {
    const prepared = await prepare('regenerate', { message_id: String(before.data.at(-1)?.content.id) });
    const path = `/api/langgraph/threads/${threadId}/runs`;
    const body = { ...replay(threadId, prepared), after_seconds: 60 };
    const { body: run } = await api.request<{ run_id: string }>('POST', path, body);
    expect((await api.request('POST', `${path}/${run.run_id}/cancel?wait=1&action=interrupt`)).status).toBe(204);
    const { page, history } = await ui.reload(threadId);
    expect(lines(page)).toEqual(lines(before));
    expect(spoken(history[0]?.values.messages ?? [])).toEqual(lines(before));
  });

  test('branch: the copy holds the turns up to there and goes its own way', async () => {
    const [, answer] = before.data;
    const body = { message_id: String(answer?.content.id), message_ids: [String(answer?.content.id)] };
    const branch = await ui.read<{ thread_id: string }>('POST', `/api/threads/${threadId}/branches`, body);
    expect(branch.thread_id).not.toBe(threadId);
    const copied = await ui.reload(branch.thread_id);
    expect(lines(copied.page)).toEqual(['human: PLAN:tokens=1', 'ai: done w1']);
    expect(spoken(copied.history[0]?.values.messages ?? [])).toEqual(lines(copied.page));
    await ui.say(branch.thread_id, 'PLAN:tokens=3');
    expect(lines(await ui.page(branch.thread_id)).slice(2)).toEqual(['human: PLAN:tokens=3', 'ai: done w1 w2 w3']);
    expect(await ui.page(threadId)).toEqual(before);
  });
});

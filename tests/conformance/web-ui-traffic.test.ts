import type { JsonObject } from '../../contracts';
import { call, fail, say } from '../support/fake-model';
import type { ApiClient, Product } from '../support/product';
import { createApiClient, startProduct } from '../support/product';
import type { WebUi } from './web-ui';
import { SEARCH, createWebUi, message, runIdOf, shown, spoken, textOf } from './web-ui';

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

const EMPTY_PAGE = { data: [], has_more: false, next_before_seq: null };
const COUNT = expect.any(Number);
const TEXT = expect.any(String);

describe('opening a page', () => {
  test('what every page asks for has the types that the web UI reads', async () => {
    expect(await ui.read('GET', '/api/features')).toMatchObject({
      agents_api: { enabled: expect.any(Boolean) },
      browser_control: { enabled: expect.any(Boolean) },
      mcp_tasks: { enabled: expect.any(Boolean) },
    });
    expect(await ui.read('GET', '/api/channels/providers')).toMatchObject({ enabled: false, providers: [] });
    const models = await ui.read<{ models: JsonObject[]; token_usage: JsonObject }>('GET', '/api/models');
    expect(models.token_usage).toEqual({ enabled: expect.any(Boolean) });
    expect(models.models).toHaveLength(2);
    expect(models.models[0]).toMatchObject({
      name: 'scripted',
      model: TEXT,
      display_name: 'scripted',
      supports_thinking: expect.any(Boolean),
      supports_reasoning_effort: expect.any(Boolean),
    });
    expect(await ui.read('GET', '/api/skills')).toMatchObject({ skills: expect.any(Array) });
    expect(await ui.read('GET', '/api/suggestions/config')).toEqual({
      enabled: expect.any(Boolean),
      max_suggestions: COUNT,
    });
    expect(await ui.read('POST', '/api/langgraph/threads/search', SEARCH)).toEqual(expect.any(Array));
  });

  test('a new chat, whose id nobody has seen, is empty and no error', async () => {
    const threadId = ui.threadId();
    expect(await ui.read('GET', `/api/threads/${threadId}/uploads/limits`)).toEqual({
      max_files: COUNT,
      max_file_size: COUNT,
      max_total_size: COUNT,
    });
    const sidecars = { metadata: { deerflow_sidecar: true, parent_thread_id: threadId }, limit: 1, offset: 0 };
    expect(await ui.read('POST', '/api/langgraph/threads/search', { ...SEARCH, ...sidecars })).toEqual([]);
    expect(await ui.page(threadId)).toEqual(EMPTY_PAGE);
    expect(await ui.history(threadId)).toEqual([]);
    expect(await ui.read('GET', `/api/threads/${threadId}/token-usage`)).toMatchObject({
      thread_id: threadId,
      total_tokens: 0,
    });
    const missing = await api.request<{ detail: string }>('GET', `/api/langgraph/threads/${threadId}`);
    expect(missing).toMatchObject({ status: 404, body: { detail: TEXT } });
  });
});

describe('the first message', () => {
  test('files go up before the thread is there, and the chat that begins with them is named after the words', async () => {
    const threadId = ui.threadId();
    const name = 'herd (final) v2.txt';
    const { status, body: uploaded } = await ui.upload(threadId, [{ name, text: 'eleven deer' }]);
    expect(status).toBe(200);
    expect(uploaded.files).toMatchObject([
      { filename: name, size: 11, virtual_path: `/mnt/user-data/uploads/${name}` },
    ]);
    expect(await ui.createThread(threadId)).toMatchObject({ thread_id: threadId });

    const { frames } = await ui.send(threadId, message(threadId, 'PLAN:tokens=2', { files: uploaded.files }));
    expect(frames.at(-1)?.event).toBe('end');
    const { history, page, row } = await ui.reload(threadId);
    expect(spoken(history[0]?.values.messages ?? []).at(-1)).toBe('ai: done w1 w2');
    const sent = { files: [{ filename: name, size: 11, path: `/mnt/user-data/uploads/${name}`, status: 'uploaded' }] };
    expect(page.data.find(({ content }) => content.type === 'human')?.content['additional_kwargs']).toMatchObject(sent);
    expect(String(row?.values.title)).toMatch(/^[^<]+$/);
    expect(JSON.stringify(product.model.requests.at(-1)?.body.messages)).toContain(name);
  });

  test('the address of the run comes at once, and everything can be read while the run has written nothing', async () => {
    const threadId = ui.threadId();
    await ui.createThread(threadId);
    const [worker] = product.workers;
    worker?.signal('SIGSTOP');
    const abort = new AbortController();
    const response = await fetch(`${product.url}/api/langgraph/threads/${threadId}/runs/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message(threadId, 'PLAN:tokens=1')),
      signal: abort.signal,
    });
    try {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      const runId = runIdOf(response.headers);
      expect(response.headers.get('content-location')).toBe(`/api/threads/${threadId}/runs/${runId}`);
      expect(response.headers.get('location')).toBe(`/threads/${threadId}/runs/${runId}/stream`);
      const { page, history, usage, row } = await ui.reload(threadId);
      expect(page).toEqual(EMPTY_PAGE);
      expect(history.every(({ values }) => (values?.messages ?? []).length === 0)).toBe(true);
      expect(usage).toMatchObject({ total_tokens: 0, total_input_tokens: 0, total_output_tokens: 0 });
      expect(row).toMatchObject({ thread_id: threadId, updated_at: TEXT, metadata: {} });
      expect(await ui.read('GET', `/api/langgraph/threads/${threadId}/runs/${runId}`)).toMatchObject({
        run_id: runId,
        status: expect.stringMatching(/^(pending|running)$/),
      });
      expect(await ui.read('GET', `/api/features`)).toBeDefined();
      worker?.signal('SIGCONT');
      expect(await response.text()).toMatch(/event: end\ndata: null\n\n$/);
    } finally {
      worker?.signal('SIGCONT');
      abort.abort();
    }
  });

  test('when the stream closes, state and pages hold the finished turn already', async () => {
    for (let round = 0; round < 5; round += 1) {
      const threadId = ui.threadId();
      await ui.createThread(threadId);
      const { frames, headers } = await ui.send(threadId, message(threadId, 'PLAN:tools=1 tool=ls tokens=3'));
      const { history, page, row, usage } = await ui.reload(threadId);

      const expected = ['human: PLAN:tools=1 tool=ls tokens=3', 'tool: (empty)', 'ai: done w1 w2 w3'];
      expect(spoken(history[0]?.values.messages ?? [])).toEqual(expected);
      expect(spoken(page.data.map(({ content }) => content))).toEqual(expected);
      expect(page).toMatchObject({ has_more: false, next_before_seq: null });
      const runId = runIdOf(headers);
      expect(page.data.every((entry) => entry.run_id === runId)).toBe(true);
      const ids = new Set(history[0]?.values.messages.map(({ id }) => id));
      expect(page.data.every(({ content }) => content.type === 'tool' || ids.has(content.id))).toBe(true);
      expect(page.data.at(-1)?.content['additional_kwargs']).toMatchObject({ turn_duration: COUNT });
      expect(page.data.at(-1)?.content['usage_metadata']).toMatchObject({
        input_tokens: 10,
        output_tokens: 5,
        total_tokens: 15,
      });
      expect(row?.values).toMatchObject({ title: history[0]?.values.title });
      expect(usage).toMatchObject({ total_tokens: 30, total_input_tokens: 20, total_output_tokens: 10 });
      expect(shown(frames).map(({ text }) => text)).toEqual(
        (history[0]?.values.messages ?? []).map(({ content }) => textOf(content)),
      );
      expect(
        await ui.read(
          'GET',
          `/api/threads/${threadId}/runs/${runId}/workspace-changes?include_files=true&include_diff=false`,
        ),
      ).toMatchObject({ available: expect.any(Boolean), summary: { created: COUNT, truncated: false }, files: [] });
      const suggestions = { messages: [{ role: 'user', content: 'hello' }], n: 3, model_name: 'scripted' };
      expect(await ui.read('POST', `/api/threads/${threadId}/suggestions`, suggestions)).toMatchObject({
        suggestions: expect.any(Array),
      });
    }
  });

  test('the stream brings the reply as chunks of one id, the title early, and no frames of another kind', async () => {
    const threadId = ui.threadId();
    await ui.createThread(threadId);
    product.model.script('scripted', [
      call(
        'write_file',
        { description: 'Count them', path: '/mnt/user-data/workspace/count.txt', content: '11' },
        'w1',
      ),
      say('eleven deer were seen', { chunks: 7 }),
    ]);
    const { frames } = await ui.send(threadId, message(threadId, 'Count the deer'));
    expect([...new Set(frames.map(({ event }) => event))].sort()).toEqual([
      'end',
      'messages',
      'metadata',
      'updates',
      'values',
    ]);
    const pairs = frames
      .filter(({ event }) => event === 'messages')
      .map(({ data }) => data as unknown as [JsonObject & { id: string; type: string }, JsonObject]);
    expect(pairs.every((pair) => pair.length === 2 && typeof pair[0].id === 'string' && pair[0].id !== '')).toBe(true);
    const calls = pairs.flatMap(([chunk]) => (chunk['tool_call_chunks'] ?? []) as JsonObject[]);
    expect(calls.map(({ args }) => args).join('')).toContain('"content":"11"');
    expect(pairs.find(([chunk]) => chunk.type === 'tool')?.[0]).toMatchObject({
      tool_call_id: 'w1',
      status: 'success',
    });
    // As long as no whole state follows, the chunks alone make up the text.
    const last = frames.findLastIndex(({ event }) => event === 'values');
    const chunksOnly = frames.slice(0, last).filter(({ event }) => event !== 'values');
    expect(shown(chunksOnly).at(-1)).toEqual({ type: 'ai', text: 'eleven deer were seen' });
    const title = frames.findIndex(
      ({ event, data }) => event === 'updates' && JSON.stringify(data).includes('"title"'),
    );
    expect(title).toBeGreaterThan(0);
    expect(title).toBeLessThan(last);
  });
});

describe('the next message', () => {
  test('carries the newest checkpoint that the page saw, which makes no branch', async () => {
    const threadId = await ui.chat('PLAN:tokens=1');
    const seen = await ui.history(threadId);
    expect(seen[0]?.checkpoint).toMatchObject({ checkpoint_id: TEXT });
    await ui.say(threadId, 'PLAN:tokens=2', seen);
    const { history, page } = await ui.reload(threadId);
    const turns = ['human: PLAN:tokens=1', 'ai: done w1', 'human: PLAN:tokens=2', 'ai: done w1 w2'];
    expect(spoken(history[0]?.values.messages ?? [])).toEqual(turns);
    expect(spoken(page.data.map(({ content }) => content))).toEqual(turns);
  });

  test('goes on where the conversation is although the page saw an older state: renamed since, or stopped since', async () => {
    const threadId = await ui.chat('PLAN:tokens=1');
    const seen = await ui.history(threadId);
    await ui.read('POST', `/api/langgraph/threads/${threadId}/state`, { values: { title: 'Red deer' } });
    await ui.say(threadId, 'PLAN:tokens=2', seen);
    expect((await api.values(threadId)).title).toBe('Red deer');

    const before = await ui.history(threadId);
    const stopped = await ui.send(threadId, message(threadId, 'PLAN:tokens=90 gap=30'), {
      until: (frame) => JSON.stringify(frame.data).includes('w3'),
    });
    await ui.stop(threadId, runIdOf(stopped.headers));
    // The page reads no history after a stop.
    await ui.say(threadId, 'PLAN:tokens=3', before);
    const { history } = await ui.reload(threadId);
    expect(spoken(history[0]?.values.messages ?? []).filter((line) => line.startsWith('human'))).toEqual([
      'human: PLAN:tokens=1',
      'human: PLAN:tokens=2',
      'human: PLAN:tokens=90 gap=30',
      'human: PLAN:tokens=3',
    ]);
  });

  test('joins what another page did meanwhile', async () => {
    const threadId = await ui.chat('PLAN:tokens=1');
    const seen = await ui.history(threadId);
    await ui.say(threadId, 'PLAN:tokens=2');
    await ui.say(threadId, 'PLAN:tokens=3', seen);
    const { history, page } = await ui.reload(threadId);
    const asked = [1, 2, 3].map((tokens) => `human: PLAN:tokens=${tokens}`);
    expect(spoken(history[0]?.values.messages ?? []).filter((line) => line.startsWith('human'))).toEqual(asked);
    expect(spoken(page.data.map(({ content }) => content)).filter((line) => line.startsWith('human'))).toEqual(asked);
  });

  test('older pages of a long chat hold each message once', async () => {
    const threadId = await ui.chat('PLAN:tokens=1');
    for (let turn = 2; turn <= 4; turn += 1) await ui.say(threadId, `PLAN:tokens=${turn}`);
    const pages = [await ui.page(threadId, '?limit=3')];
    for (let next = pages[0]?.next_before_seq; typeof next === 'number'; next = pages.at(-1)?.next_before_seq) {
      pages.push(await ui.page(threadId, `?limit=3&before_seq=${next}`));
    }
    expect(pages.map(({ data }) => data.length)).toEqual([3, 3, 2]);
    const texts = pages.reverse().flatMap(({ data }) => spoken(data.map(({ content }) => content)));
    expect(texts.filter((line) => line.startsWith('human'))).toEqual(
      [1, 2, 3, 4].map((tokens) => `human: PLAN:tokens=${tokens}`),
    );
  });
});

test('a failing model is told by a message of the assistant, the stream ends in order, and the chat goes on', async () => {
  const threadId = ui.threadId();
  await ui.createThread(threadId);
  product.model.script('scripted', [fail(401, { message: 'Incorrect API key provided: sk-not-a-real-key', times: 1 })]);
  const { frames } = await ui.send(threadId, message(threadId, 'Hello'));
  expect(frames.at(-1)).toEqual({ event: 'end', data: null, id: null });
  expect(frames.map(({ event }) => event)).not.toContain('error');
  const told = shown(frames).at(-1);
  expect(told).toMatchObject({ type: 'ai', text: expect.stringMatching(/\w{3}/) });
  const { history, page } = await ui.reload(threadId);
  expect(spoken(history[0]?.values.messages ?? [])).toEqual(['human: Hello', `ai: ${told?.text}`]);
  expect(spoken(page.data.map(({ content }) => content))).toEqual(['human: Hello', `ai: ${told?.text}`]);
  expect(JSON.stringify([frames, history, page])).not.toContain('sk-not');

  const next = await ui.say(threadId, 'PLAN:tokens=1');
  expect(shown(next.frames).at(-1)).toEqual({ type: 'ai', text: 'done w1' });
});

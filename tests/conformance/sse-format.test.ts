/** The bytes of a stream, as clients that are no SSE library read them. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../contracts';
import type { Product } from '../support/product';
import { ask, startProduct } from '../support/product';

let product: Product;

beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.close());

const ALL = ['values', 'updates', 'messages-tuple', 'custom', 'debug', 'tasks', 'checkpoints'];
const FRAME = /^event: ([a-z]+)\ndata: ([^\n\r]+)\n(?:id: (\d+)-(\d+)\n)?$/;

const WORDS = 'Zeilen\nund\u2028Umbrüche 🦌 PLAN\nPLAN:tools=1 tool=ls tokens=3';

async function post(prefix: string, extra: JsonObject = {}, words = WORDS) {
  const threadId = randomUUID();
  await fetch(`${product.url}/api/threads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ thread_id: threadId }),
  });
  const response = await fetch(`${product.url}${prefix}/threads/${threadId}/runs/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ask(words, extra)),
  });
  return { threadId, response, text: await response.text() };
}

interface Parsed {
  event: string;
  data: string;
  id: [at: number, number: number] | null;
}

function parsed(text: string): Parsed[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .split(/(?<=\n)\n/)
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [, event = '', data = '', at, number] = FRAME.exec(block) ?? [];
      if (event === '') throw new Error(`no frame: ${JSON.stringify(block.slice(0, 200))}`);
      return { event, data, id: at === undefined ? null : [Number(at), Number(number)] };
    });
}

test.each(['/api', '/api/langgraph'])(
  'headers of a created stream tell proxies and clients what they need: %s',
  async (prefix) => {
    const { threadId, response, text } = await post(prefix);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream(; charset=utf-8)?$/);
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('connection')).toBe('keep-alive');
    expect(response.headers.get('content-encoding')).toBeNull();
    const { run_id: runId } = JSON.parse(parsed(text)[0]?.data ?? '{}') as { run_id: string };
    expect(response.headers.get('content-location')).toBe(`/api/threads/${threadId}/runs/${runId}`);
    expect(response.headers.get('location')).toBe(`/threads/${threadId}/runs/${runId}/stream`);
  },
);

test('each frame is event, data on one line of JSON and id, in this order; ids are a time and a count that grows', async () => {
  const { text } = await post('/api', { stream_mode: ALL });
  expect(text).not.toContain('\r');
  // Text beyond ASCII is sent as it is.
  expect(text).toContain('Umbrüche 🦌');
  const frames = parsed(text);
  expect(frames[0]).toMatchObject({ event: 'metadata', id: [expect.any(Number), 0] });
  expect(frames.at(-1)).toEqual({ event: 'end', data: 'null', id: null });
  expect(frames.slice(0, -1).every(({ id }) => id !== null)).toBe(true);
  frames.forEach(({ data }) => expect(() => JSON.parse(data) as unknown).not.toThrow());
  const ids = frames.flatMap(({ id }) => (id === null ? [] : [id]));
  ids.slice(1).forEach(([at, number], place) => {
    const [earlierAt, earlierNumber] = ids[place] ?? [Infinity, Infinity];
    expect(number).toBeGreaterThan(earlierNumber);
    expect(at).toBeGreaterThanOrEqual(earlierAt);
  });
  expect(Math.abs(Date.now() - (ids[0]?.[0] ?? 0))).toBeLessThan(60_000);
  expect(new Set(frames.map(({ event }) => event))).toEqual(
    new Set(['metadata', 'values', 'updates', 'messages', 'debug', 'tasks', 'checkpoints', 'end']),
  );
});

test('messages are pairs of a chunk and where it is from, with every key that LangChain clients read', async () => {
  const { threadId, text } = await post('/api', { stream_mode: ['messages-tuple'] });
  const frames = parsed(text);
  const { run_id: runId } = JSON.parse(frames[0]?.data ?? '{}') as { run_id: string };
  const pairs = frames
    .filter(({ event }) => event === 'messages')
    .map(({ data }) => JSON.parse(data) as [Record<string, unknown>, Record<string, unknown>]);
  const chunks = pairs.filter(([message]) => message['type'] === 'AIMessageChunk');
  expect(chunks.length).toBeGreaterThan(4);
  for (const [chunk, meta] of chunks) {
    expect(chunk).toEqual({
      content: expect.any(String),
      additional_kwargs: expect.any(Object),
      response_metadata: expect.any(Object),
      type: 'AIMessageChunk',
      name: null,
      id: expect.stringMatching(/^lc_run--/),
      tool_calls: expect.any(Array),
      invalid_tool_calls: [],
      usage_metadata: chunk['usage_metadata'] === null ? null : expect.objectContaining({ total_tokens: 15 }),
      tool_call_chunks: expect.any(Array),
      chunk_position: chunk['chunk_position'] === null ? null : 'last',
    });
    expect(meta).toMatchObject({
      run_id: runId,
      thread_id: threadId,
      langgraph_node: 'model',
      langgraph_step: expect.any(Number),
      langgraph_checkpoint_ns: expect.any(String),
      model_name: 'scripted',
    });
  }
  const calling = chunks.flatMap(([chunk]) => chunk['tool_call_chunks'] as Array<Record<string, unknown>>);
  expect(calling[0]).toEqual({
    name: 'ls',
    args: expect.any(String),
    id: expect.any(String),
    index: 0,
    type: 'tool_call_chunk',
  });
  expect(pairs.find(([message]) => message['type'] === 'tool')?.[0]).toMatchObject({
    name: 'ls',
    tool_call_id: calling[0]?.['id'],
    status: 'success',
    content: '(empty)',
  });
});

test('a run that asks for nothing gets whole states', async () => {
  const { text } = await post('/api');
  expect(new Set(parsed(text).map(({ event }) => event))).toEqual(new Set(['metadata', 'values', 'end']));
});

test('a stream that is silent for fifteen seconds says so in a comment', async () => {
  const { text } = await post('/api', {}, 'PLAN:delay=16500 tokens=1');
  const comments = text.match(/^:.*$/gm);
  expect(comments).toEqual([': heartbeat']);
  expect(text).toContain('\n\n: heartbeat\n\nevent: ');
  expect(parsed(text).at(-1)?.event).toBe('end');
});

/** The official JavaScript client, both of the lines that are in use, against the real processes. */
import { randomUUID } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client as Client1_15 } from '@langchain/langgraph-sdk';
import { Client as Client1_5 } from 'langgraph-sdk-1-5';
import { call, fail, say } from '../../support/fake-model';
import type { Product } from '../../support/product';
import { startProduct } from '../../support/product';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.close());

/** What both lines have in common, as far as these tests use it. */
type Client = Client1_15;

const clients: Array<[string, (apiUrl: string) => Client]> = [
  ['1.15', (apiUrl) => new Client1_15({ apiUrl })],
  ['1.5', (apiUrl) => new Client1_5({ apiUrl }) as unknown as Client],
];

interface Values {
  messages: Array<{ type: string; content: string }>;
}

const question = (text: string) => ({ messages: [{ role: 'user', content: text }] });

describe.each(clients)('the client of line %s', (_line, connect) => {
  const client = (): Client => connect(`${product.url}/api/langgraph`);
  const context = { model_name: 'scripted' };

  it('creates threads, streams a run and reads what it left', async () => {
    product.model.script('scripted', [say('Hello to you.', { chunks: 3 })]);
    const { thread_id: threadId } = await client().threads.create({ metadata: { graph_id: 'lead_agent' } });
    const created: Array<{ run_id: string; thread_id?: string }> = [];
    const events: Array<{ event: string; data: unknown }> = [];
    const stream = client().runs.stream(threadId, 'lead_agent', {
      input: question('hello'),
      context,
      streamMode: ['values', 'messages-tuple', 'updates', 'custom'],
      onRunCreated: (run) => created.push(run),
    });
    for await (const event of stream) events.push(event);
    const runId = created[0]?.run_id ?? '';
    expect(created).toMatchObject([{ thread_id: threadId }]);
    expect(events[0]).toMatchObject({ event: 'metadata', data: { run_id: runId } });
    const text = events
      .filter(({ event }) => event === 'messages')
      .map(({ data }) => (data as [{ type: string; content: string }])[0])
      .filter(({ type }) => type === 'AIMessageChunk')
      .map(({ content }) => content);
    expect(text.join('')).toBe('Hello to you.');

    const state = await client().threads.getState<Values>(threadId);
    expect(state.values.messages.at(-1)).toMatchObject({ type: 'ai', content: 'Hello to you.' });
    expect(state.checkpoint.checkpoint_id).toEqual(expect.any(String));
    const history = await client().threads.getHistory<Values>(threadId, { limit: 2 });
    expect(history[0]?.parent_checkpoint?.checkpoint_id).toBe(history[1]?.checkpoint.checkpoint_id);
    const earlier = await client().threads.getState(threadId, history[1]?.checkpoint.checkpoint_id ?? '');
    expect(earlier.checkpoint.checkpoint_id).toBe(history[1]?.checkpoint.checkpoint_id);
    expect(await client().runs.list(threadId)).toMatchObject([{ run_id: runId, status: 'success' }]);
    expect(await client().runs.get(threadId, runId)).toMatchObject({ status: 'success' });
    expect(await client().runs.join(threadId, runId)).toMatchObject({ messages: [{}, { content: 'Hello to you.' }] });
    const again: string[] = [];
    for await (const { event } of client().runs.joinStream(threadId, runId, { streamMode: ['values'] }))
      again.push(event);
    expect([again[0], again.at(-1)]).toEqual(['metadata', 'end']);
    expect(new Set(again)).toEqual(new Set(['metadata', 'values', 'end']));
    await client().runs.delete(threadId, runId);
    await client().threads.update(threadId, { metadata: { a: 1 } });
    await client().threads.updateState(threadId, { values: { title: 'Named' } });
    await client().threads.patchState(threadId, { b: 2 });
    const found = await client().threads.search({ metadata: { a: 1, b: 2 }, limit: 5 });
    expect(found).toMatchObject([{ thread_id: threadId, values: { title: 'Named' } }]);
    await client().threads.delete(threadId);
    await expect(client().threads.get(threadId)).rejects.toThrow('404');
  });

  it('waits for a run, and raises its failure unless told otherwise', async () => {
    const { thread_id: threadId } = await client().threads.create();
    const payload = { input: question('hello'), context };
    product.model.script('scripted', [say('fine')]);
    expect(await client().runs.wait(threadId, 'lead_agent', payload)).toMatchObject({
      messages: [{}, { content: 'fine' }],
    });
    product.model.script('scripted', [fail(400), fail(400)]);
    await expect(client().runs.wait(threadId, 'lead_agent', payload)).rejects.toThrow();
    const values = await client().runs.wait(threadId, 'lead_agent', { ...payload, raiseError: false });
    expect(values).toMatchObject({ __error__: { message: expect.any(String) as unknown } });
  });

  it('runs without a thread, in the background, and cancels', async () => {
    product.model.script('scripted', [say('slow '.repeat(100), { chunks: 100, delayMs: 100 })]);
    const run = await client().runs.create(null, 'lead_agent', { input: question('hello'), context });
    await client().runs.cancel(run.thread_id, run.run_id, true);
    expect(await client().runs.get(run.thread_id, run.run_id)).toMatchObject({ status: 'interrupted' });
  });

  it('stops before the tools and goes on with a command', async () => {
    product.model.script('scripted', [
      call('ls', { path: '/mnt/user-data/workspace', description: 'look' }),
      say('done'),
    ]);
    const { thread_id: threadId } = await client().threads.create();
    const stopped = await client().runs.wait(threadId, 'lead_agent', {
      input: question('look around'),
      context,
      interruptBefore: ['tools'],
    });
    expect(stopped).toHaveProperty('__interrupt__');
    expect((await client().threads.getState(threadId)).next).toEqual(['tools']);
    const payload = { command: { resume: 'go on' }, context };
    const values = (await client().runs.wait(threadId, 'lead_agent', payload)) as unknown as Values;
    expect(values.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
  });
});

describe('a connection that breaks once in the middle of a run', () => {
  /** A way to the API that breaks the first stream off after some frames. */
  async function breakingProxy(target: string) {
    let broken = 0;
    const server = createServer((request, response) => {
      const onward = httpRequest(
        target + request.url,
        { method: request.method, headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          const isStream = request.method === 'POST' && (request.url ?? '').endsWith('/runs/stream');
          let frames = 0;
          answer.on('data', (chunk: Buffer) => {
            response.write(chunk);
            frames += chunk.toString().split('\n\n').length - 1;
            if (isStream && broken === 0 && frames >= 4) {
              broken += 1;
              response.destroy();
              onward.destroy();
            }
          });
          answer.on('end', () => response.end());
          answer.on('error', () => response.destroy());
        },
      );
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      broken: () => broken,
      close: () => new Promise<void>((resolve) => server.close(() => resolve())),
    };
  }

  it('is mended by the client, which then has every event once', async () => {
    product.model.script('scripted', [say('one two three four five six seven eight', { chunks: 20, delayMs: 30 })]);
    const proxy = await breakingProxy(product.url);
    const client = new Client1_15({ apiUrl: `${proxy.url}/api/langgraph` });
    const threadId = randomUUID();
    await client.threads.create({ threadId });
    const ids: string[] = [];
    let text = '';
    const stream = client.runs.stream(threadId, 'lead_agent', {
      input: question('count'),
      context: { model_name: 'scripted' },
      streamMode: ['messages-tuple'],
      onDisconnect: 'continue',
    });
    for await (const event of stream) {
      const { event: name, data, id } = event as { event: string; data: unknown; id?: string };
      // The client shows the last id again with what has none.
      if (id !== undefined && name !== 'end') ids.push(id);
      const [message] = name === 'messages' ? (data as [{ type: string; content: string }]) : [];
      if (message?.type === 'AIMessageChunk') text += message.content;
    }
    await proxy.close();
    expect(proxy.broken()).toBe(1);
    expect(text).toBe('one two three four five six seven eight');
    expect(ids.map((id) => Number(id.split('-')[1]))).toEqual(ids.map((_, place) => place));
  });
});

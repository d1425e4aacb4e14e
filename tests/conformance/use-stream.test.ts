/**
 * The logic of the hook `useStream`, which the official client keeps in a class without React. A browser's session
 * storage is stood in for, as the class keeps the run of a page there.
 */
import { Client } from '@langchain/langgraph-sdk';
import { StreamOrchestrator, toMessageDict } from '@langchain/langgraph-sdk/ui';
import type { ApiClient, Product } from '../support/product';
import { createApiClient, startProduct } from '../support/product';
import type { Values } from './official-clients';
import { ASSISTANT, human } from './official-clients';

let product: Product;
let api: ApiClient;

const errorsOfNode: unknown = Object.getPrototypeOf(DOMException.prototype);

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(() => product.url);
  // Jest has an `Error` of its own, and the class must know an aborted request for an error.
  Object.setPrototypeOf(DOMException.prototype, Error.prototype);
  // The class asks whether there is a window before it asks for the storage.
  Object.defineProperty(globalThis, 'window', { value: {}, configurable: true });
});
afterAll(async () => {
  Reflect.deleteProperty(globalThis, 'window');
  Object.setPrototypeOf(DOMException.prototype, Object(errorsOfNode));
  await product.close();
});

type State = Partial<Values>;
interface Created {
  run_id: string;
  thread_id: string;
}

class Storage {
  readonly items = new Map<string, string>();
  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.items.set(key, value);
  }
  removeItem(key: string): void {
    this.items.delete(key);
  }
}

/** One page with the hook on it, and what it sent. */
function openPage({ storage = new Storage(), limit = 1 }: { storage?: Storage; limit?: number } = {}) {
  const sent: Array<{ path: string; body: Record<string, unknown> }> = [];
  const errors: unknown[] = [];
  const created: Created[] = [];
  const finished: unknown[] = [];
  const client = new Client({
    apiUrl: `${product.url}/api/langgraph`,
    apiKey: null,
    callerOptions: { maxRetries: 0 },
    onRequest: (url, init) => {
      const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {};
      sent.push({ path: url.pathname.replace('/api/langgraph', ''), body });
      return init;
    },
  });
  const hook = new StreamOrchestrator<State>(
    {
      assistantId: ASSISTANT,
      fetchStateHistory: { limit },
      reconnectOnMount: () => storage,
      toMessage: toMessageDict,
      onError: (error: unknown) => void errors.push(error),
      onCreated: (run: Created) => void created.push(run),
      onFinish: (state: unknown) => void finished.push(state),
      onCustomEvent: () => undefined,
    } as ConstructorParameters<typeof StreamOrchestrator<State>>[0],
    { getClient: () => client as Client, getAssistantId: () => ASSISTANT, getMessagesKey: () => 'messages' },
  );
  // A page that shows messages asks for their chunks.
  hook.trackStreamMode('messages-tuple');
  // React's adapter calls this whenever the hook's state changes.
  hook.subscribe(() => hook.drainQueue());
  return { hook, sent, errors, created, finished, storage };
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const contents = (messages: ReadonlyArray<{ content: unknown }>) => messages.map(({ content }) => content);

test('a first message makes the thread, tells both ids, streams the reply and ends with the stored state', async () => {
  const { hook, sent, errors, created, finished, storage } = openPage();
  const lengths = new Set<number>();
  hook.subscribe(() => void lengths.add(JSON.stringify(hook.messages.at(-1)?.content ?? '').length));
  hook.initThreadId(undefined);
  await hook.submit(human('PLAN:tokens=20 gap=10') as unknown as State);

  expect(errors).toEqual([]);
  expect(created).toEqual([{ run_id: expect.any(String), thread_id: hook.threadId }]);
  expect(sent.map(({ path }) => path)).toEqual([
    '/threads',
    `/threads/${hook.threadId}/runs/stream`,
    `/threads/${hook.threadId}/history`,
  ]);
  expect(sent[1]?.body).toMatchObject({
    stream_mode: ['values', 'updates', 'messages-tuple', 'custom'],
    stream_resumable: true,
    on_disconnect: 'continue',
  });
  expect(hook.isLoading).toBe(false);
  expect(hook.error).toBeUndefined();
  expect(contents(hook.messages)).toEqual(['PLAN:tokens=20 gap=10', expect.stringMatching(/^done w1 .* w20$/)]);
  // The reply grew on the screen.
  expect(lengths.size).toBeGreaterThan(10);
  expect(finished).toHaveLength(1);
  expect(storage.items.size).toBe(0);
});

test('an interrupt shows, and a resume goes on to the end', async () => {
  const { hook, errors } = openPage();
  hook.initThreadId(undefined);
  await hook.submit(human('PLAN:tools=1 tool=ls tokens=1') as unknown as State, { interruptBefore: ['tools'] });
  expect(hook.interrupt).toMatchObject({ value: expect.anything() });
  expect(hook.interrupts).toHaveLength(1);

  await hook.submit(null as unknown as State, { command: { resume: 'yes' } });
  expect(hook.interrupt).toBeUndefined();
  expect(hook.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
  expect(errors).toEqual([]);
});

test('messages sent while a run is on are queued on the server, in order, and streamed one after the other', async () => {
  const { hook, sent, errors } = openPage();
  hook.initThreadId(undefined);
  const first = hook.submit(human('PLAN:delay=2500 tokens=1') as unknown as State);
  await until(() => hook.threadId !== undefined && sent.length >= 2, 'the first run');
  await hook.submit(human('PLAN:tokens=2') as unknown as State);
  await hook.submit(human('PLAN:tokens=3') as unknown as State);
  expect(hook.queueSize).toBe(2);
  const queued = sent.filter(({ path }) => path.endsWith('/runs'));
  expect(queued.map(({ body }) => body)).toMatchObject([
    { multitask_strategy: 'enqueue', stream_resumable: true },
    { multitask_strategy: 'enqueue', stream_resumable: true },
  ]);
  await first;
  await until(() => hook.queueSize === 0 && !hook.isLoading && hook.messages.length === 6, 'the queue to run dry');
  expect(errors).toEqual([]);
  expect(contents(hook.messages).filter((_, place) => place % 2 === 1)).toEqual([
    'done w1',
    'done w1 w2',
    'done w1 w2 w3',
  ]);
});

test('a queued message can be withdrawn', async () => {
  const { hook, sent } = openPage();
  hook.initThreadId(undefined);
  const first = hook.submit(human('PLAN:delay=2500 tokens=1') as unknown as State);
  await until(() => hook.threadId !== undefined && sent.length >= 2, 'the first run');
  await hook.submit(human('PLAN:tokens=2') as unknown as State);
  const [entry] = hook.queueEntries;
  expect(await hook.cancelQueueItem(String(entry?.id))).toBe(true);
  await first;
  expect(await api.ended(String(hook.threadId), String(entry?.id))).toMatchObject({ status: 'interrupted' });
  expect((await api.values(String(hook.threadId))).messages).toHaveLength(2);
});

test('a page that is loaded again in mid-run shows the whole reply once', async () => {
  const before = openPage();
  before.hook.initThreadId(undefined);
  const running = before.hook.submit(human('PLAN:tokens=60 gap=15') as unknown as State);
  await until(() => JSON.stringify(before.hook.messages).includes('w10'), 'the first words');
  const threadId = String(before.hook.threadId);

  const after = openPage({ storage: before.storage });
  after.hook.initThreadId(threadId);
  expect(after.hook.tryReconnect()).toBe(true);
  await running;
  await until(() => !after.hook.isLoading && after.hook.messages.length === 2, 'the joined run');
  expect(after.errors).toEqual([]);
  expect(contents(after.hook.messages)).toEqual(contents((await api.values(threadId)).messages));
});

test('stop cancels the run, keeps the conversation and lets the next message through', async () => {
  const { hook, created, errors } = openPage();
  hook.initThreadId(undefined);
  const running = hook.submit(human('PLAN:tokens=200 gap=20') as unknown as State);
  await until(() => JSON.stringify(hook.messages).includes('w5'), 'the first words');
  await hook.stop();
  await running;
  const { thread_id: threadId = '', run_id: runId = '' } = created[0] ?? {};
  expect(await api.ended(threadId, runId)).toMatchObject({ status: 'interrupted' });
  expect(hook.error).toBeUndefined();
  await hook.submit(human('PLAN:tokens=1') as unknown as State);
  expect(errors).toEqual([]);
  expect(hook.messages.at(-1)?.content).toBe('done w1');
});

test('a failing model is told in the conversation, and the page goes on', async () => {
  const { hook } = openPage();
  hook.initThreadId(undefined);
  await hook.submit(human('PLAN:status=400') as unknown as State);
  expect(hook.isLoading).toBe(false);
  expect(hook.messages.at(-1)).toMatchObject({ type: 'ai', content: expect.stringMatching(/\S/) });
  await hook.submit(human('PLAN:tokens=1') as unknown as State);
  expect(hook.messages.at(-1)?.content).toBe('done w1');
});

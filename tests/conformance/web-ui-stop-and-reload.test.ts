import type { RunRecord } from '../../contracts';
import { call } from '../support/fake-model';
import type { ApiClient, Frame, Product } from '../support/product';
import { createApiClient, startProduct } from '../support/product';
import type { WebUi } from './web-ui';
import { createWebUi, message, runIdOf, shown, spoken } from './web-ui';

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

async function until<T>(read: () => Promise<T>, fits: (value: T) => boolean, limitMs: number): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const value = await read();
    if (fits(value) || Date.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('stop', () => {
  test('the stopped turn is on the page within 1.5 seconds', async () => {
    const threadId = ui.threadId();
    await ui.createThread(threadId);
    const { headers } = await ui.send(threadId, message(threadId, 'PLAN:tokens=90 gap=30'), {
      until: (frame) => JSON.stringify(frame.data).includes('w3'),
    });
    await ui.stop(threadId, runIdOf(headers));
    const reads = () => ui.reload(threadId);
    const { page } = await until(reads, (now) => now.page.data.length > 0, 1_500);
    expect(spoken(page.data.map(({ content }) => content))).toEqual(['human: PLAN:tokens=90 gap=30']);
    const run = await api.ended(threadId, runIdOf(headers));
    expect(run.status).toBe('interrupted');
    await ui.stop(threadId, runIdOf(headers));
  });

  test.each([
    ['while the model is silent', 'PLAN:delay=5000'],
    ['while text is streamed', 'PLAN:tokens=200 gap=30'],
    ['while a command runs', null],
  ])('the next message follows at once and meets no conflict: %s', async (_, text) => {
    const threadId = await ui.chat('PLAN:tokens=1');
    if (text === null) product.model.script('scripted', [call('bash', { description: 'Wait', command: 'sleep 9' })]);
    const first = await ui.send(threadId, message(threadId, text ?? 'Wait'), {
      until: ({ event }) => event === 'values',
    });
    if (text === null) await new Promise((resolve) => setTimeout(resolve, 300));
    await ui.stop(threadId, runIdOf(first.headers));
    const second = await ui.send(threadId, message(threadId, 'PLAN:tokens=2'));
    expect(second.status).toBe(200);
    expect(second.frames.at(-1)?.event).toBe('end');
    expect(shown(second.frames).at(-1)).toEqual({ type: 'ai', text: 'done w1 w2' });
    expect((await api.ended(threadId, runIdOf(first.headers))).status).toBe('interrupted');
  });

  test('whenever the stop comes, the next message goes through', async () => {
    await Promise.all(
      [0, 15, 40, 80, 150, 300].map(async (wait) => {
        const threadId = ui.threadId();
        await ui.createThread(threadId);
        const abort = new AbortController();
        const first = await fetch(`${product.url}/api/langgraph/threads/${threadId}/runs/stream`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(message(threadId, 'PLAN:tools=1 tool=ls tokens=3 gap=20')),
          signal: abort.signal,
        });
        await new Promise((resolve) => setTimeout(resolve, wait));
        abort.abort();
        const runId = runIdOf(first.headers);
        const path = `/api/langgraph/threads/${threadId}/runs/${runId}/cancel?wait=0&action=interrupt`;
        expect([202, 409]).toContain((await api.request('POST', path)).status);
        const second = await ui.send(threadId, message(threadId, 'PLAN:tokens=2'));
        expect({ wait, status: second.status }).toEqual({ wait, status: 200 });
        expect(shown(second.frames).at(-1)).toEqual({ type: 'ai', text: 'done w1 w2' });
      }),
    );
  });

  test('a second page that sends meanwhile is still refused', async () => {
    const threadId = await ui.chat('PLAN:tokens=1');
    const first = await ui.send(threadId, message(threadId, 'PLAN:delay=5000'), { until: () => true });
    await ui.stop(threadId, runIdOf(first.headers));
    const [one, two] = await Promise.all([1, 2].map(() => ui.send(threadId, message(threadId, 'PLAN:delay=500'))));
    expect([one?.status, two?.status].sort()).toEqual([200, 409]);
  });

  test('a stop that comes too late says so in the words that the web UI takes for done', async () => {
    const threadId = await ui.chat('PLAN:tokens=1');
    const [run] = await ui.read<RunRecord[]>('GET', `/api/langgraph/threads/${threadId}/runs`);
    const path = `/api/langgraph/threads/${threadId}/runs/${run?.run_id}/cancel?wait=0&action=interrupt`;
    const { status, body } = await api.request<{ detail: string }>('POST', path);
    expect(status).toBe(409);
    expect(body.detail).toContain('is not cancellable');
  });
});

test('a page loaded again in mid-run gets the whole replay in all modes, then the rest live', async () => {
  const threadId = ui.threadId();
  await ui.createThread(threadId);
  const first = await ui.send(threadId, message(threadId, 'PLAN:tools=1 tool=ls tokens=60 gap=15'), {
    until: (frame) => JSON.stringify(frame.data).includes('w5'),
  });
  const runId = runIdOf(first.headers);
  const run = await ui.read<RunRecord>('GET', `/api/langgraph/threads/${threadId}/runs/${runId}`);
  expect(run.status).toBe('running');
  expect(await ui.read('GET', `/api/langgraph/threads/${threadId}`)).toMatchObject({ status: 'busy' });
  const { page, history } = await ui.reload(threadId);
  expect(spoken(page.data.map(({ content }) => content))[0]).toMatch(/^human: PLAN/);
  expect(spoken(history[0]?.values.messages ?? [])[0]).toMatch(/^human: PLAN/);

  const joined = await api.stream({
    path: `/api/langgraph/threads/${threadId}/runs/${runId}/stream?cancel_on_disconnect=0`,
    lastEventId: '-1',
  });
  expect(joined.frames.slice(0, first.frames.length)).toEqual(first.frames);
  const names: Frame['event'][] = ['metadata', 'messages', 'values', 'updates', 'end'];
  expect(new Set(joined.frames.map(({ event }) => event))).toEqual(new Set(names));
  const words = Array.from({ length: 60 }, (_, place) => ` w${place + 1}`).join('');
  expect(shown(joined.frames.filter(({ event }) => event !== 'values')).at(-1)?.text).toBe(`done${words}`);
  expect(shown(joined.frames).at(-1)?.text).toBe(`done${words}`);
  expect((await ui.read<RunRecord>('GET', `/api/langgraph/threads/${threadId}/runs/${runId}`)).status).toBe('success');
});

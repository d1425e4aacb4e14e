import { Client } from '@langchain/langgraph-sdk';
import type { JsonObject } from '../../../contracts';
import { call, fail, hang, say } from '../../support/fake-model';
import type { ThreadValues } from '../../support/product';
import { ask } from '../../support/product';
import { texts, unknownId, until, useProduct } from './scenario';

const used = useProduct();
const { api, script } = used;

type Waited = ThreadValues & { __error__?: { error: string; message: string } };

function wait(threadId: string, extra: JsonObject = {}) {
  return api.request<Waited>('POST', `/api/threads/${threadId}/runs/wait`, ask('go', extra));
}

describe('waiting for a run', () => {
  test('that fails after a step gives the values of that step and the error beside them', async () => {
    script(call('bash', { command: 'echo from the first step' }), fail(503));
    const threadId = await api.newThread();
    const { status, body } = await wait(threadId);
    expect(status).toBe(200);
    expect(texts(body).join('\n')).toContain('from the first step');
    expect(body.__error__?.message).toContain('HTTP 503');
    used.model.assertClean();
  });

  test('makes the official client throw on a failure, unless it is told not to', async () => {
    const client = new Client({ apiUrl: `${used.product.url}/api/langgraph`, callerOptions: { maxRetries: 0 } });
    const input = { messages: [{ role: 'user', content: 'go' }] };
    script(fail(503));
    const first = await api.newThread();
    await expect(client.runs.wait(first, 'lead_agent', { input })).rejects.toThrow('503');
    script(fail(503));
    const values = await client.runs.wait(first, 'lead_agent', { input, raiseError: false });
    expect(values).toMatchObject({ __error__: { message: expect.stringContaining('503') } });
    script(say('fine'));
    expect(texts((await client.runs.wait(first, 'lead_agent', { input })) as unknown as Waited)).toContain('fine');
  });

  test('that was cancelled by somebody else gives what is there', async () => {
    script(hang(60_000));
    const threadId = await api.newThread();
    const waiting = wait(threadId);
    await used.model.waitForRequests(1);
    const [run] = await used.get<Array<{ run_id: string }>>(`/api/threads/${threadId}/runs`);
    await api.request('POST', `/api/threads/${threadId}/runs/${run?.run_id ?? ''}/cancel`);
    const { status, body } = await waiting;
    expect(status).toBe(200);
    expect(texts(body)).toEqual(['go']);
    expect(body.__error__).toBeUndefined();
  });

  test('gives the values of this run, although another was waiting for its turn', async () => {
    script(hang(300, say('first')), say('second'));
    const threadId = await api.newThread();
    const first = wait(threadId);
    await used.model.waitForRequests(1);
    const second = wait(threadId, { multitask_strategy: 'enqueue' });
    expect(texts((await first).body)).toEqual(['go', 'first']);
    expect(texts((await second).body)).toEqual(['go', 'first', 'go', 'second']);
  });

  test('without a thread makes one and says where', async () => {
    script(say('hello'));
    const { headers, body } = await api.request<Waited>('POST', '/api/runs/wait', ask('go'));
    const [, threadId = ''] =
      /^\/api\/threads\/([^/]+)\/runs\/[^/]+$/.exec(headers.get('content-location') ?? '') ?? [];
    expect(texts(body)).toEqual(['go', 'hello']);
    expect(texts(await api.values(threadId))).toEqual(['go', 'hello']);
  });

  test('and hanging up leaves the run alone', async () => {
    script(hang(300, say('nobody waits')));
    const threadId = await api.newThread();
    const abort = new AbortController();
    const asked = fetch(`${used.product.url}/api/threads/${threadId}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ask('go')),
      signal: abort.signal,
    });
    await used.model.waitForRequests(1);
    abort.abort();
    await expect(asked.then((response) => response.text())).rejects.toThrow();
    await until(async () => texts(await api.values(threadId)).includes('nobody waits'), 'the answer');
  });
});

describe('references to other conversations', () => {
  const four = Array.from({ length: 4 }, unknownId);
  const cases: Array<[string, JsonObject, number]> = [
    ['four of them', { conversation_references: four }, 422],
    ['four of them in the context', { context: { conversation_references: four } }, 422],
    ['both forms at once', { conversation_references: ['a'], context: { conversation_references: ['a'] } }, 422],
    ['an empty one', { conversation_references: [''] }, 422],
    ['while no tool could read them', { conversation_references: ['a'] }, 400],
    ['the same in the context', { context: { conversation_references: ['a'] } }, 400],
  ];

  test.each(cases)('%s: are refused and no run is stored', async (_what, extra, status) => {
    const threadId = await api.newThread();
    const answer = await api.request('POST', `/api/threads/${threadId}/runs`, ask('go', extra));
    expect(answer.status).toBe(status);
    expect(await used.get(`/api/threads/${threadId}/runs`)).toEqual([]);
  });
});

import { randomUUID } from 'node:crypto';
import type { RunRecord } from '../../../contracts';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import type { RunScript } from '../../support/run-script';
import { scriptRun } from '../../support/run-script';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness({ settings: { heartbeatMs: 100 } });
});
afterAll(() => api.close());

async function newThread(): Promise<string> {
  const threadId = randomUUID();
  await api.request('POST', '/api/threads', { thread_id: threadId });
  return threadId;
}

async function newRun(threadId?: string): Promise<RunScript> {
  const thread = threadId ?? (await newThread());
  const answer = await api.request('POST', `/api/threads/${thread}/runs`, { input: { messages: 'hi' } });
  return scriptRun(api.stores, (answer.body as RunRecord).run_id);
}

const pathOf = ({ threadId, runId }: RunScript): string => `/api/threads/${threadId}/runs/${runId}`;

describe('the list of runs', () => {
  it('shows the newest first, in pages and by status', async () => {
    const threadId = await newThread();
    const ids: string[] = [];
    for (let place = 0; place < 3; place += 1) {
      const script = await newRun(threadId);
      ids.unshift(script.runId);
      await script.finish(place === 1 ? 'error' : 'success');
    }
    const list = async (query: string) =>
      ((await api.request('GET', `/api/threads/${threadId}/runs${query}`)).body as RunRecord[]).map(
        (one) => one.run_id,
      );
    expect(await list('')).toEqual(ids);
    expect(await list('?limit=1&offset=1')).toEqual([ids[1]]);
    expect(await list('?status=error')).toEqual([ids[1]]);
    expect(await list('?status=made-up')).toEqual([]);
    expect(await list('?limit=100000')).toEqual(ids);
  });

  it('of a thread that nobody has is empty, and a single run is not found', async () => {
    const threadId = randomUUID();
    expect((await api.request('GET', `/api/threads/${threadId}/runs`)).body).toEqual([]);
    const script = await newRun();
    expect(await api.request('GET', `/api/threads/${threadId}/runs/${script.runId}`)).toMatchObject({
      status: 404,
      body: { detail: `Run ${script.runId} not found` },
    });
    expect((await api.request('GET', `/api/threads/${script.threadId}/runs/nope`)).status).toBe(404);
  });
});

describe('cancelling a run', () => {
  it('is stored, signalled and accepted, and may be repeated', async () => {
    const script = await newRun();
    await script.begin();
    const answer = await api.request('POST', `${pathOf(script)}/cancel?wait=0&action=interrupt`);
    expect(answer).toMatchObject({ status: 202, text: '' });
    expect(api.gateway.cancelled).toContainEqual({ runId: script.runId, action: 'interrupt' });
    await script.finish('interrupted');
    expect((await api.request('POST', `${pathOf(script)}/cancel`)).status).toBe(202);
  });

  it('can wait until the run has ended', async () => {
    const script = await newRun();
    await script.begin();
    let answered = false;
    const waiting = api.request('POST', `${pathOf(script)}/cancel?wait=true`).finally(() => (answered = true));
    await new Promise((wake) => setTimeout(wake, 200));
    expect(answered).toBe(false);
    await script.finish('interrupted');
    expect((await waiting).status).toBe(204);
    expect((await api.request('POST', `${pathOf(script)}/cancel?wait=1`)).status).toBe(204);
  });

  it('does what was asked first', async () => {
    const script = await newRun();
    await script.begin();
    await api.request('POST', `${pathOf(script)}/cancel?action=interrupt`);
    await api.request('POST', `${pathOf(script)}/cancel?action=rollback`);
    expect((await api.stores.runs.load(script.runId))?.cancelAction).toBe('interrupt');
    expect(api.gateway.cancelled.filter((one) => one.runId === script.runId).map((one) => one.action)).toEqual([
      'interrupt',
      'interrupt',
    ]);
    await script.finish('interrupted');
  });

  it('of a run that has ended otherwise is refused with its status', async () => {
    const script = await newRun();
    await script.finish();
    const answer = await api.request('POST', `${pathOf(script)}/cancel`);
    expect(answer).toMatchObject({
      status: 409,
      body: { detail: `Run ${script.runId} is not cancellable (status: success)` },
    });
  });

  it('refuses an action that it does not know', async () => {
    const script = await newRun();
    const answer = await api.request('POST', `${pathOf(script)}/cancel?action=nonsense`);
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      detail: [
        {
          type: 'literal_error',
          loc: ['query', 'action'],
          msg: "Input should be 'interrupt' or 'rollback'",
          input: 'nonsense',
          ctx: { expected: "'interrupt' or 'rollback'" },
        },
      ],
    });
  });

  it('ends a run that only waits for its thread at once', async () => {
    const threadId = await newThread();
    await newRun(threadId);
    const body = { input: { messages: 'hi' }, multitask_strategy: 'enqueue' };
    const queued = (await api.request('POST', `/api/threads/${threadId}/runs`, body)).body as RunRecord;
    expect((await api.request('POST', `/api/threads/${threadId}/runs/${queued.run_id}/cancel?wait=1`)).status).toBe(
      204,
    );
    const after = await api.request('GET', `/api/threads/${threadId}/runs/${queued.run_id}`);
    expect(after.body).toMatchObject({ status: 'interrupted' });
  });

  it('through the stream shows the rest of the stream', async () => {
    const script = await newRun();
    await script.begin();
    const streaming = api.request('POST', `${pathOf(script)}/stream?action=interrupt`);
    while (!api.gateway.cancelled.some((one) => one.runId === script.runId)) {
      await new Promise((wake) => setTimeout(wake, 20));
    }
    await script.finish('interrupted');
    const { status, text } = await streaming;
    expect(status).toBe(200);
    expect(text.match(/^event: .+$/gm)).toEqual(['event: metadata', 'event: values', 'event: values', 'event: end']);
  });
});

describe('waiting for a run', () => {
  async function wait(threadId: string, body: object = {}) {
    const answering = api.request('POST', `/api/threads/${threadId}/runs/wait`, { input: { messages: 'hi' }, ...body });
    const find = async () => (await api.stores.runs.list('alice', threadId, { limit: 1, offset: 0 }))[0];
    let row = await find();
    while (row === undefined) {
      await new Promise((wake) => setTimeout(wake, 20));
      row = await find();
    }
    return { answering, script: await scriptRun(api.stores, row.runId) };
  }

  it('gives the values that the run leaves', async () => {
    const { answering, script } = await wait(await newThread());
    await script.begin('a question');
    await script.reply('an answer');
    await script.finish();
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-location')).toBe(pathOf(script));
    expect(answer.body).toMatchObject({
      messages: [{ content: 'a question' }, { content: 'an answer' }],
      artifacts: [],
    });
    expect(answer.body).not.toHaveProperty('__error__');
  });

  it('keeps the connection alive meanwhile', async () => {
    const { answering, script } = await wait(await newThread());
    await script.begin();
    await new Promise((wake) => setTimeout(wake, 350));
    await script.finish();
    const { text, body } = await answering;
    expect(text).toMatch(/^\n{2,}\{/);
    expect(body).toHaveProperty('messages');
  });

  it('tells of a failure beside the values of the steps before it', async () => {
    const { answering, script } = await wait(await newThread());
    await script.begin('a question');
    await script.finish('error', { name: 'ModelError', message: 'The model is gone.', code: 'model_unavailable' });
    expect((await answering).body).toMatchObject({
      messages: [{ content: 'a question' }],
      __error__: { error: 'ModelError', message: 'The model is gone.' },
    });
  });

  it('tells of the breakpoint at which the run stopped', async () => {
    const { answering, script } = await wait(await newThread());
    await script.begin();
    await script.stopBefore('tools');
    expect((await answering).body).toMatchObject({ __interrupt__: [{ id: 'stop-tools' }] });
  });

  it('gives the values of this run, never those of a later one', async () => {
    const threadId = await newThread();
    const first = await newRun(threadId);
    await first.begin('first');
    await first.finish();
    const second = await newRun(threadId);
    await second.begin('second');
    await second.finish();
    const joined = await api.request('GET', `/api/langgraph/threads/${threadId}/runs/${first.runId}/join`);
    expect(joined.body).toMatchObject({ messages: [{ content: 'first' }] });
    expect((joined.body as { messages: unknown[] }).messages).toHaveLength(1);
  });

  it('cancels the run when its client hangs up, if the run was made so', async () => {
    const threadId = await newThread();
    const controller = new AbortController();
    const response = await fetch(`${api.url}/api/threads/${threadId}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: { messages: 'hi' }, on_disconnect: 'cancel' }),
      signal: controller.signal,
    });
    const runId = response.headers.get('content-location')?.split('/').at(-1) ?? '';
    controller.abort();
    const deadline = Date.now() + 5_000;
    while (!api.gateway.cancelled.some((one) => one.runId === runId) && Date.now() < deadline) {
      await new Promise((wake) => setTimeout(wake, 20));
    }
    expect(api.gateway.cancelled).toContainEqual({ runId, action: 'interrupt' });
  });
});

describe('joining a run', () => {
  it('is JSON for the official client and a stream elsewhere, unless the request says otherwise', async () => {
    const script = await newRun();
    await script.begin();
    await script.finish();
    const type = async (prefix: string, accept: string) =>
      (await api.request('GET', `${prefix}${pathOf(script).slice(4)}/join`, undefined, { accept })).headers.get(
        'content-type',
      );
    expect(await type('/api/langgraph', '*/*')).toMatch(/^application\/json/);
    expect(await type('/api/langgraph', 'text/event-stream')).toMatch(/^text\/event-stream/);
    expect(await type('/api', '*/*')).toMatch(/^text\/event-stream/);
    expect(await type('/api', 'application/json')).toMatch(/^application\/json/);
  });
});

describe("asking for the headers of a run's stream", () => {
  it('neither waits for the end of the run nor cancels it', async () => {
    const script = await newRun();
    for (const path of ['/stream', '/stream?action=interrupt', '/join']) {
      const answer = await api.request('HEAD', pathOf(script) + path);
      expect([path, answer.status]).toEqual([path, 405]);
      expect(answer.headers.get('allow')).toContain('GET');
    }
    expect(await api.stores.runs.load(script.runId)).toMatchObject({ cancelAction: null });
    await script.finish('success');
  });
});

describe('deleting a run', () => {
  it('is possible once it has ended', async () => {
    const script = await newRun();
    expect((await api.request('DELETE', pathOf(script))).status).toBe(409);
    await script.finish();
    expect((await api.request('DELETE', pathOf(script))).status).toBe(204);
    expect((await api.request('DELETE', pathOf(script))).status).toBe(404);
  });
});

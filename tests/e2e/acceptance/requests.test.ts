import type { JsonObject, MessageContent, RunRecord } from '../../../contracts';
import { contentText } from '../../../core/text';
import { call, say } from '../../support/fake-model';
import { useProduct } from './scenario';

interface Page {
  data: Array<{ seq: number; content: JsonObject }>;
  has_more: boolean;
  next_before_seq: number | null;
}

describe('requests', () => {
  const used = useProduct();
  const { api, script, run, get } = used;

  test('with the key of another service, and under the prefix of the official client, are served', async () => {
    const junk = { 'x-api-key': 'junk', authorization: 'Bearer junk' };
    const made = await api.request<{ thread_id: string }>(
      'POST',
      '/api/langgraph/threads',
      {},
      { 'x-api-key': 'junk' },
    );
    expect(made.status).toBe(200);
    const read = await api.request('GET', `/api/threads/${made.body.thread_id}`, undefined, {
      'x-api-key': junk['x-api-key'],
    });
    expect(read.status).toBe(200);
  });

  test('for what is not there or not allowed there are answered as such, never as a failure', async () => {
    expect(await api.request('GET', '/api/nothing')).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
    expect(await api.request('DELETE', '/api/models')).toMatchObject({
      status: 405,
      body: { detail: 'Method Not Allowed' },
    });
    const malformed = await fetch(`${used.product.url}/api/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"thread_id": ',
    });
    expect(malformed.status).toBe(422);
  });

  test('for the messages of a thread can go back page by page, each message once, replaced turns left out', async () => {
    script(say('one'), call('ls', { path: '/mnt/user-data/workspace' }), say('two'), say('two, better'));
    const threadId = await api.newThread();
    await run(threadId, 'first');
    await run(threadId, 'second');
    const { messages } = await api.values(threadId);
    const answer = messages.at(-1)?.id ?? '';
    const prepared = await api.request<JsonObject>('POST', `/api/threads/${threadId}/runs/regenerate/prepare`, {
      message_id: answer,
    });
    expect(prepared.status).toBe(200);
    const { input, checkpoint, metadata } = prepared.body as {
      input: JsonObject;
      checkpoint: JsonObject;
      metadata: JsonObject;
    };
    expect((await run(threadId, '', { input, checkpoint, metadata })).status).toBe('success');

    const path = `/api/threads/${threadId}/messages/page`;
    expect((await api.request('GET', `${path}?after_seq=1`)).status).toBe(422);
    const seen: Page['data'] = [];
    let before: number | null = null;
    do {
      const page: Page = await get<Page>(`${path}?limit=2${before === null ? '' : `&before_seq=${before}`}`);
      seen.unshift(...page.data);
      expect(page.has_more).toBe(page.next_before_seq !== null);
      before = page.next_before_seq;
    } while (before !== null);
    const shown = seen.map(({ content }) => contentText(content['content'] as MessageContent));
    expect(shown).toEqual(['first', 'one', 'second', 'two, better']);
    expect(new Set(seen.map(({ seq }) => seq)).size).toBe(seen.length);
  });

  test('for the tokens of a thread are told the sum of its runs', async () => {
    script(
      say('one', { usage: [10, 5] }),
      call('ls', { path: '/mnt/user-data/workspace' }, 'c1', { usage: [20, 7] }),
      say('two', { usage: [30, 9] }),
    );
    const threadId = await api.newThread();
    const runs: RunRecord[] = [await run(threadId, 'first'), await run(threadId, 'second')];
    expect(runs.map(({ total_tokens: total }) => total)).toEqual([15, 66]);
    expect(await get(`/api/threads/${threadId}/token-usage`)).toMatchObject({
      total_tokens: 81,
      total_input_tokens: 60,
      total_output_tokens: 21,
      total_runs: 2,
      by_model: { scripted: { tokens: 81, runs: 2 } },
      by_caller: { lead_agent: 81, subagent: 0, middleware: 0 },
    });
  });
});

describe('the documentation', () => {
  const used = useProduct({ workers: 0, env: { GATEWAY_ENABLE_DOCS: 'false' } });

  test.each(['/docs', '/redoc', '/openapi.json'])('(%s) can be switched off', async (path) => {
    expect((await used.api.request('GET', path)).status).toBe(404);
    expect((await used.api.request('GET', '/health')).status).toBe(200);
  });
});

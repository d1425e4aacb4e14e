import { call, fail, raw, say } from '../../support/fake-model';
import { lastText, until, useProduct } from './scenario';

const BUDGET = { enabled: true, max_tokens: 1000, warn_threshold: 0.5 };
const used = useProduct({
  models: ['titles'],
  config: {
    title: { model_name: 'titles', max_chars: 40 },
    token_budget: BUDGET,
    lead_prompt_overlay: { prepend: 'Begin {so}.', append: 'End {"so": 1}.' },
  },
});
const { api, script, start, get } = used;

const look = (usage: readonly [number, number]) =>
  call('ls', { path: '/mnt/user-data/workspace' }, undefined, { usage });

async function runOf(threadId: string, text: string) {
  const { run_id: runId } = await start(threadId, text);
  return api.ended(threadId, runId);
}

describe('a title that a model writes', () => {
  test('is the thread’s title at the end of the first run; its tokens are the run’s, and it is asked for once', async () => {
    script(say('It is four.', { usage: [10, 5] }));
    used.model.script('titles', [say('<think>hm</think>"Adding two numbers"', { usage: [20, 3] })]);
    const threadId = await api.newThread();
    const ended = await runOf(threadId, 'What is two and two?');
    expect(ended).toMatchObject({ status: 'success', total_tokens: 38, llm_call_count: 2 });
    expect((await api.values(threadId)).title).toBe('Adding two numbers');
    const [asked] = used.model.requestsOf('titles');
    expect(JSON.stringify(asked?.body.messages)).toContain('What is two and two?');
    expect(asked?.body.tools ?? []).toEqual([]);

    script(say('Six.', { usage: [10, 5] }));
    await runOf(threadId, 'And three and three?');
    expect(used.model.requestsOf('titles')).toHaveLength(1);
    expect(await get(`/api/threads/${threadId}/token-usage`)).toMatchObject({ total_tokens: 53 });
    used.model.assertClean();
  });

  test('is the user’s first words where the model fails', async () => {
    script(say('ok'));
    used.model.script('titles', [fail(500, { message: 'broken' })]);
    const threadId = await api.newThread();
    expect((await runOf(threadId, 'Please help me')).status).toBe('success');
    expect((await api.values(threadId)).title).toBe('Please help me');
  });

  test('is not asked for again when the worker dies after it was written', async () => {
    script(say('ok'));
    used.model.script('titles', [say('Written once', { delayMs: 300 })]);
    const threadId = await api.newThread();
    const { run_id: runId } = await start(threadId, 'hello');
    const { pool } = used.product;
    const written = async () =>
      (await pool.query('select 1 from model_turns where run_id = $1 and turn = -1', [runId])).rowCount !== 0;
    await until(written, 'the title');
    used.product.workers.at(-1)?.kill();
    await used.product.startWorker();
    expect((await api.ended(threadId, runId)).status).toBe('success');
    expect((await api.values(threadId)).title).toBe('Written once');
    expect(used.model.requestsOf('titles')).toHaveLength(1);
  });
});

describe('the token budget', () => {
  test('warns the model in its requests only, and ends the run in order when it is used up', async () => {
    used.model.script('titles', [say('Title')]);
    script(look([300, 100]), look([300, 100]), look([150, 100]));
    const threadId = await api.newThread();
    const ended = await runOf(threadId, 'go');
    expect(ended).toMatchObject({ status: 'success', stop_reason: 'token_capped' });
    const values = await api.values(threadId);
    expect(lastText(values)).toMatch(/^\[TOKEN BUDGET EXCEEDED\]/);
    expect(JSON.stringify(values.messages)).not.toContain('TOKEN BUDGET WARNING');
    const warned = used.model
      .requestsOf('default')
      .map(({ body }) => JSON.stringify(body.messages.at(-1)).includes('[TOKEN BUDGET WARNING] 80%'));
    expect(warned).toEqual([false, false, true]);
    used.model.assertClean();
  });
});

test('texts around the prompt are literal and stand first and last', async () => {
  used.model.script('titles', [say('Title')]);
  script(raw({ content: 'ok' }));
  await runOf(await api.newThread(), 'go');
  const system = String(used.model.requestsOf('default').at(-1)?.body.messages[0]?.content);
  expect(system.startsWith('Begin {so}.\n\n<role>')).toBe(true);
  expect(system.endsWith('</response_style>\n\nEnd {"so": 1}.')).toBe(true);
});

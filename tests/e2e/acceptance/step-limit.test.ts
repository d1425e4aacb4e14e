import { call, say } from '../../support/fake-model';
import { expectSoundRun } from '../../support/product/invariants';
import { runIdOf, useProduct } from './scenario';

const used = useProduct();
const { api, script, run, stream, get } = used;

const look = () => call('ls', { path: '/mnt/user-data/workspace' });

describe('a run that would need more steps than it may take', () => {
  test('ends as an error that readers of the stream see before the end', async () => {
    script(look(), look(), look());
    const threadId = await api.newThread();
    const { frames } = await stream(threadId, 'go', { config: { recursion_limit: 3 } });
    expect(frames.slice(-2)).toEqual([
      {
        event: 'error',
        id: expect.any(String),
        data: { name: 'GraphRecursionError', message: expect.stringContaining('3') },
      },
      { event: 'end', id: null, data: null },
    ]);
    const runId = runIdOf(frames);
    expect(await get(`/api/threads/${threadId}/runs/${runId}`)).toMatchObject({
      status: 'error',
      error: { name: 'GraphRecursionError', code: 'recursion_limit' },
    });
    await expectSoundRun(used.product.pool, runId);
    expect(used.model.requests).toHaveLength(2);
    used.model.assertClean();

    script(say('on we go'));
    expect((await run(threadId, 'continue')).status).toBe('success');
    used.model.assertClean();
  });

  test('ends in order when its last step is the answer', async () => {
    script(look(), say('just in time'));
    const threadId = await api.newThread();
    expect((await run(threadId, 'go', { config: { recursion_limit: 3 } })).status).toBe('success');
  });

  test.each([0, -1, 1.5, true, '3', null])('has the configured limit where it asks for %j', async (limit) => {
    script(look(), look(), say('enough'));
    const threadId = await api.newThread();
    expect((await run(threadId, 'go', { config: { recursion_limit: limit } })).status).toBe('success');
  });
});

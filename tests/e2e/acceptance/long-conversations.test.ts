import { fail, say } from '../../support/fake-model';
import { expectSoundRun } from '../../support/product/invariants';
import { lastText, lastValues, runIdOf, texts, useProduct } from './scenario';

const used = useProduct();
const { api, script, run, stream } = used;

describe('a conversation that is longer than the model can read', () => {
  const tooLong = () =>
    fail(400, { code: 'context_length_exceeded', message: 'maximum context length is 10', times: 1 });

  test('is asked about once more without its older part, which the thread keeps', async () => {
    const old = 'an old answer '.repeat(2_000);
    script(say(old), tooLong(), say('a new answer'));
    const threadId = await api.newThread();
    await run(threadId, 'the old question');
    const { frames } = await stream(threadId, 'the new question', {
      stream_mode: ['values', 'custom'],
    });
    expect(lastText(lastValues(frames))).toBe('a new answer');
    expect(frames.filter(({ event }) => event === 'custom').map(({ data }) => data)).toEqual([
      expect.objectContaining({ type: 'llm_retry', reason: 'context_length' }),
    ]);
    const [, whole, less] = used.model.requestsOf('default').map(({ body }) => JSON.stringify(body));
    expect(whole).toContain(old.trim());
    expect(less).not.toContain(old.trim());
    expect(less).toContain('the new question');
    expect(texts(await api.values(threadId))).toEqual(['the old question', old, 'the new question', 'a new answer']);
    await expectSoundRun(used.product.pool, runIdOf(frames));
  });

  test('ends its run with that reason when less is too long as well', async () => {
    script(say('an old answer '.repeat(2_000)), tooLong(), tooLong());
    const threadId = await api.newThread();
    await run(threadId, 'the old question');
    expect(await run(threadId, 'the new question')).toMatchObject({ status: 'error' });
    expect((await api.values(threadId)).messages.at(-1)).toMatchObject({
      additional_kwargs: { error_type: 'model_context_length', error_reason: 'context_length' },
    });
    expect(used.model.requestsOf('default')).toHaveLength(3);
  });
});

import { hang, say } from '../support/fake-model';
import { ask } from '../support/product';
import { expectIncreasing } from '../support/product/invariants';
import { chunks, lastText, lastValues, runIdOf, useProduct } from '../e2e/acceptance/scenario';

/** A reader that came back with an id older than the buffer got only a part, and nobody told it. */
const used = useProduct({ config: { stream_bridge: { queue_maxsize: 2 } } });
const { api, script } = used;

const TOKENS = { stream_mode: ['values', 'messages-tuple'] };

test('a reader that comes back after many more events than the buffer holds gets each of them once, and the end', async () => {
  const text = Array.from({ length: 50 }, (_, index) => `part-${index} `).join('');
  script(hang(300, say(text, { chunks: 50, delayMs: 10 })));
  const threadId = await api.newThread();
  const dropped = await api.stream({
    path: `/api/threads/${threadId}/runs/stream`,
    body: ask('go', TOKENS),
    until: () => true,
  });
  const runId = runIdOf(dropped.frames);
  const path = `/api/threads/${threadId}/runs/${runId}/stream`;
  const first = dropped.frames[0]?.id ?? '';

  const early = await api.stream({ path, lastEventId: first });
  const late = await api.stream({ path, lastEventId: first });
  expect(late.frames).toEqual(early.frames);
  expectIncreasing(late.frames);
  expect(late.frames.filter(({ event }) => event === 'gap')).toEqual([]);
  expect(late.frames.at(-1)?.event).toBe('end');
  const answer = lastValues(late.frames).messages.at(-1);
  const parts = chunks(late.frames).filter(({ id }) => id === answer?.id);
  expect(parts.map(({ content }) => content).join('')).toBe(text);
  expect(lastText(lastValues(late.frames))).toBe(text);
});

test('a reader whose place is gone for good is told so, with ids, before anything else', async () => {
  script(say('ok'));
  const threadId = await api.newThread();
  const headers = { 'idempotency-key': 'once' };
  const post = () => api.stream({ path: `/api/threads/${threadId}/runs/stream`, body: ask('go', TOKENS), headers });
  const runId = runIdOf((await post()).frames);
  // The same as the retention does once it is over.
  await used.product.pool.query('delete from run_events where run_id = $1', [runId]);
  const { frames } = await post();
  expect(frames).toEqual([
    {
      event: 'gap',
      id: null,
      data: {
        code: 'stream_replay_gap',
        run_id: runId,
        requested_event_id: null,
        earliest_available_event_id: expect.any(String),
        latest_available_event_id: expect.any(String),
        recovery: 'reload_durable_state',
      },
    },
  ]);
});

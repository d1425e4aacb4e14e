import { readFile, readdir } from 'node:fs/promises';
import { call, say } from '../../support/fake-model';
import { expectSoundRun } from '../../support/product/invariants';
import { texts, until, useProduct } from './scenario';

const used = useProduct({ apis: 2, workers: 2 });
const { api, start } = used;

const RUNS = 24;
/** Longer than a run takes, so that some are stopped before they begin and some have ended. */
const LATEST_STOP_MS = 600;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a Stop that comes at any moment of a run', () => {
  test.each(['interrupt', 'rollback'])(
    'and is accepted (%s) always counts, one that is refused never does',
    async (action) => {
      // Every run: a command, then an answer. The scripts do not say whose turn it is, so each request decides for itself.
      used.model.script('default', []);
      const question = 'PLAN:tools=1 tool=bash tokens=3 gap=10';
      const results = await Promise.all(
        Array.from({ length: RUNS }, async (_, index) => {
          const threadId = await api.newThread();
          const { run_id: runId } = await start(threadId, question);
          await pause((index * LATEST_STOP_MS) / RUNS);
          const path = `/api/threads/${threadId}/runs/${runId}/cancel?action=${action}`;
          const { status: answer } = await api.request('POST', path);
          const ended = await api.ended(threadId, runId);
          await expectSoundRun(used.product.pool, runId);
          return { answer, status: ended.status, threadId };
        }),
      );
      const stopped = action === 'interrupt' ? 'interrupted' : 'error';
      for (const { answer, status } of results) {
        expect({ answer, status }).toEqual(
          answer === 202 ? { answer, status: stopped } : { answer: 409, status: 'success' },
        );
      }
      expect(results.filter(({ answer }) => answer === 202).length).toBeGreaterThan(3);

      const after = results.map(async ({ threadId, status }) => {
        if (action === 'rollback' && status === 'error') expect(texts(await api.values(threadId))).toEqual([]);
        const again = await start(threadId, 'PLAN:tools=0');
        expect((await api.ended(threadId, again.run_id)).status).toBe('success');
      });
      await Promise.all(after);
      used.model.assertClean();
    },
  );
});

describe('two runs that ask for one thread at any moment', () => {
  test.each(['interrupt', 'rollback', 'enqueue'])(
    '(%s) both end, and the second has the last word',
    async (strategy) => {
      const pairs = await Promise.all(
        Array.from({ length: RUNS / 2 }, async (_, index) => {
          const threadId = await api.newThread();
          const first = await start(threadId, 'PLAN:tools=1 tool=bash tokens=3 gap=10');
          await pause((index * LATEST_STOP_MS) / (RUNS / 2));
          const second = await start(threadId, 'PLAN:tools=0', { multitask_strategy: strategy });
          const ended = [await api.ended(threadId, first.run_id), await api.ended(threadId, second.run_id)];
          for (const { run_id: runId } of ended) await expectSoundRun(used.product.pool, runId);
          return { threadId, statuses: ended.map(({ status }) => status) };
        }),
      );
      const allowed = { interrupt: ['interrupted', 'success'], rollback: ['error', 'success'], enqueue: ['success'] }[
        strategy
      ];
      for (const { threadId, statuses } of pairs) {
        expect(allowed).toContain(statuses[0]);
        expect(statuses[1]).toBe('success');
        expect(texts(await api.values(threadId)).slice(-2)).toEqual(['PLAN:tools=0', expect.stringMatching(/^done/)]);
      }
      used.model.assertClean();
    },
  );
});

/** Whether a process with this argument lives. */
async function isAlive(argument: string): Promise<boolean> {
  const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(numbers.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.some((line) => line.split('\0').includes(argument));
}

test('a Stop ends the command that runs, and what the command had started', async () => {
  // Names that no other process has: durations with a fraction of their own.
  const [front, back] = [`61.${process.pid}1`, `62.${process.pid}2`];
  used.model.script('default', [call('bash', { command: `sleep ${back} & sleep ${front}` }), say('never')]);
  const threadId = await api.newThread();
  const { run_id: runId } = await start(threadId, 'go');
  await until(async () => (await isAlive(front)) && (await isAlive(back)), 'the commands');
  const asked = Date.now();
  expect((await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`)).status).toBe(204);
  expect(Date.now() - asked).toBeLessThan(5_000);
  await expectSoundRun(used.product.pool, runId);
  expect([await isAlive(front), await isAlive(back)]).toEqual([false, false]);
});

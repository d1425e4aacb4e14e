import type { RunOptions } from '../../contracts';
import type { Activities } from './support';
import { attempt, openActivities, underConfig } from './support';

/** The steps that a run may take, as they are decided when it begins. */
let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());

async function limitOf(config: object, options: Partial<RunOptions> = {}): Promise<number> {
  const deps = await underConfig(suite, { ...config });
  const { runId } = await suite.admit({ options });
  return (await attempt(deps, ({ beginRun }) => beginRun({ runId })).result).stepLimit;
}

test('a run that asks for none has the limit of the configuration of its own beginning', async () => {
  expect(await limitOf({})).toBe(100);
  expect(await limitOf({ recursion_limit: 7 })).toBe(7);
});

test('a run that asks for one has it, and the ceiling holds for both', async () => {
  expect(await limitOf({}, { recursionLimit: 500 })).toBe(500);
  expect(await limitOf({}, { recursionLimit: 5000 })).toBe(1000);
  expect(await limitOf({ max_recursion_limit: 20 }, { recursionLimit: 500 })).toBe(20);
  expect(await limitOf({ recursion_limit: 300, max_recursion_limit: 200 })).toBe(200);
});

test('a retry of the beginning keeps the limit that the run began with, whatever was edited since', async () => {
  const deps = await underConfig(suite, { recursion_limit: 7 });
  const edited = await underConfig(suite, { recursion_limit: 9 });
  const { runId } = await suite.admit();
  const begun = await attempt(deps, ({ beginRun }) => beginRun({ runId })).result;
  expect(await attempt(edited, ({ beginRun }) => beginRun({ runId }), 2).result).toEqual(begun);
  expect(begun.stepLimit).toBe(7);
});

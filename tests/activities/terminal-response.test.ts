import type { ActivityDependencies } from '../../activities';
import { call, raw, say } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities, underConfig } from './support';

let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());
beforeEach(() => {
  suite.model.requests.length = 0;
});

const LS = { path: '/mnt/user-data/workspace' };
const SILENCE = raw({});
const ask = (deps: ActivityDependencies, runId: string, turn: number) =>
  attempt(deps, ({ callModel }) => callModel({ runId, turn })).result;
const tool = (runId: string, turn: number, toolCallId: string) =>
  attempt(suite.deps, ({ runTool }) => runTool({ runId, turn, toolCallId })).result;
const lastMessage = async (threadId: string) => (await suite.messages(threadId)).at(-1);

async function begunRun() {
  const run = await suite.admit({ options: { streamModes: ['values', 'messages-tuple', 'custom'] } });
  await attempt(suite.deps, ({ beginRun }) => beginRun({ runId: run.runId })).result;
  return run;
}

async function afterTools() {
  const run = await begunRun();
  await ask(suite.deps, run.runId, 1);
  await tool(run.runId, 1, 'c1');
  return run;
}

describe('a model that says nothing after its tools', () => {
  test('is asked once more, behind their results and in words that are not stored', async () => {
    suite.model.script('scripted', [call('ls', LS, 'c1'), SILENCE, say('at last')]);
    const { threadId, runId } = await afterTools();
    expect(await ask(suite.deps, runId, 2)).toEqual({ kind: 'end', outcome: { kind: 'success' } });
    expect(suite.model.requests.map(({ body }) => body.messages.at(-1)?.role)).toEqual(['user', 'tool', 'user']);
    expect(suite.model.requests.at(-1)?.body.messages.at(-1)?.content).toMatch(/your last reply was empty/i);
    expect((await suite.messages(threadId)).map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(await lastMessage(threadId)).toMatchObject({ content: 'at last' });
    suite.model.assertClean();
  });

  test('twice fails the run, with a message that is marked as no answer', async () => {
    suite.model.script('scripted', [call('ls', LS, 'c1'), SILENCE, SILENCE]);
    const { threadId, runId } = await afterTools();
    const next = await ask(suite.deps, runId, 2);
    expect(next).toMatchObject({ kind: 'end', outcome: { kind: 'model_failed' } });
    expect(await lastMessage(threadId)).toMatchObject({ additional_kwargs: { deerflow_error_fallback: true } });
    expect(suite.model.requests).toHaveLength(3);
    if (next.kind !== 'end') throw new Error('The run goes on.');
    const { outcome } = next;
    await attempt(suite.deps, ({ finishRun }) => finishRun({ runId, outcome })).result;
    expect(await suite.db.stores.runs.load(runId)).toMatchObject({ status: 'error' });
  });

  test('has one second chance in a run, however many tools it runs', async () => {
    const once = await underConfig(suite, { llm_call: { retry_max_attempts: 1 } });
    suite.model.script('scripted', [call('ls', LS, 'c1'), SILENCE, call('ls', LS, 'c2'), SILENCE]);
    const { runId } = await afterTools();
    expect(await ask(once, runId, 2)).toMatchObject({ kind: 'tools' });
    await tool(runId, 2, 'c2');
    expect(await ask(once, runId, 3)).toMatchObject({ outcome: { kind: 'model_failed' } });
    expect(suite.model.requests).toHaveLength(4);
  });

  test('costs its circuit nothing where it answers then', async () => {
    const calls: string[] = [];
    const permits: ActivityDependencies['permits'] = {
      ...suite.deps.permits,
      call: async (model, _settings, work) => {
        const reply = await work();
        calls.push(model);
        return reply;
      },
    };
    suite.model.script('scripted', [call('ls', LS, 'c1'), SILENCE, say('at last')]);
    const { runId } = await afterTools();
    await ask({ ...suite.deps, permits }, runId, 2);
    expect(calls).toEqual(['scripted']);
  });
});

test('a model that says nothing to the user’s own words is asked again in the same words', async () => {
  const quick = await underConfig(suite, { llm_call: { retry_base_delay_ms: 1, retry_cap_delay_ms: 1 } });
  suite.model.script('scripted', [SILENCE, say('now')]);
  const { threadId, runId } = await begunRun();
  expect(await ask(quick, runId, 1)).toEqual({ kind: 'end', outcome: { kind: 'success' } });
  const [first, second] = suite.model.requests.map(({ body }) => body.messages);
  expect(second).toEqual(first);
  expect(await lastMessage(threadId)).toMatchObject({ content: 'now' });
});

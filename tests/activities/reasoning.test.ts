import type { RunContext } from '../../contracts';
import { configSchema } from '../../contracts/schemas/config';
import type { ActivityDependencies } from '../../activities';
import { createChatModelFactory } from '../../models';
import { createSilentLogger } from '../../observability';
import { createToolRegistry } from '../../tools';
import { fixedSetups } from '../integration/db/activity-fixture';
import { say } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities } from './support';

let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());
beforeEach(() => {
  suite.model.requests.length = 0;
});

const SWITCH = {
  thinking: 'optional',
  dialect: 'openai_extra_body',
  effort: { values: ['low'], aliases: { high: 'low' } },
};
const STRICT = { thinking: 'required', dialect: 'none', on_disable_request: 'reject' };

function withModel(entry: object): ActivityDependencies {
  const base = {
    name: 'own',
    use: 'langchain_openai:ChatOpenAI',
    model: 'own',
    api_key: 'k',
    base_url: suite.model.baseUrl,
  };
  const config = configSchema.parse({ models: [{ ...base, ...entry }] });
  const models = createChatModelFactory({ config, log: createSilentLogger() });
  const tools = createToolRegistry({ config, commandsAllowed: true });
  return { ...suite.deps, setups: fixedSetups({ config, models, tools }) };
}

/** Begins a run with this context and has its first turn: what came of it, and what the provider was sent. */
async function turn(entry: object, context: RunContext) {
  const deps = withModel(entry);
  suite.model.script('own', [say('done')]);
  const { runId, threadId } = await suite.admit({ options: { context } });
  const beginning = await attempt(deps, ({ beginRun }) => beginRun({ runId })).result;
  if (beginning.next.kind === 'model') await attempt(deps, ({ callModel }) => callModel({ runId, turn: 1 })).result;
  const { rows } = await suite.db.database.pool.query<{ metadata: Record<string, unknown> }>(
    "select metadata from run_journal where event_type = 'run.start' and run_id = $1",
    [runId],
  );
  const { thinking, reasoning_effort } = { ...suite.model.requests[0]?.body } as Record<string, unknown>;
  return { beginning, threadId, start: rows[0]?.metadata, thinking, reasoning_effort };
}

describe('a run', () => {
  test('that says nothing about it thinks, where its model can', async () => {
    expect(await turn({ reasoning: SWITCH }, {})).toMatchObject({ thinking: { type: 'enabled' } });
    suite.model.requests.length = 0;
    expect(await turn({}, {})).toMatchObject({ thinking: undefined, reasoning_effort: undefined });
  });

  test('that wants no thinking gets none', async () => {
    expect(await turn({ reasoning: SWITCH }, { thinking_enabled: false })).toMatchObject({
      thinking: { type: 'disabled' },
    });
  });

  test('has its effort sent in the words of the model, and its journal says what was changed', async () => {
    const { reasoning_effort, start } = await turn({ reasoning: SWITCH }, { reasoning_effort: 'high' });
    expect(reasoning_effort).toBe('low');
    expect(start).toMatchObject({ model_name: 'own', reasoning_adjustments: ['effort_aliased'] });
  });

  test('whose wish fits has nothing about it in its journal', async () => {
    const { start } = await turn({ reasoning: SWITCH }, { reasoning_effort: 'low', thinking_enabled: true });
    expect(start).not.toHaveProperty('reasoning_adjustments');
  });

  test('whose wish is ruled out ends at its beginning with the reason, and the model is not asked', async () => {
    const { beginning } = await turn({ reasoning: STRICT }, { thinking_enabled: false });
    expect(beginning.next).toMatchObject({ kind: 'end', outcome: { kind: 'failed', code: 'thinking_required' } });
    expect(suite.model.requests).toHaveLength(0);
  });
});

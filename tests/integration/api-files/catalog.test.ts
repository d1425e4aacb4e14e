import type { FilesApi } from './support';
import { startFilesApi } from './support';

let api: FilesApi;
beforeEach(async () => {
  api = await startFilesApi({
    config: {
      models: [
        {
          name: 'fast',
          use: 'langchain_openai:ChatOpenAI',
          model: 'gpt-x',
          api_key: 'sk-secret',
          base_url: 'https://llm.example.org',
        },
        {
          name: 'deep',
          display_name: 'Deep',
          description: 'Thinks',
          use: 'langchain_openai:ChatOpenAI',
          model: 'gpt-y',
          supports_thinking: true,
          supports_reasoning_effort: true,
        },
        {
          name: 'contracted',
          use: 'langchain_openai:ChatOpenAI',
          model: 'gpt-z',
          reasoning: { thinking: 'required', effort: { values: ['low', 'high'], path: 'extra_body.effort' } },
        },
      ],
    },
  });
});
afterEach(() => api.close());

async function get(path: string, owner = 'alice'): Promise<{ status: number; body: unknown }> {
  const answer = await api.call('GET', path, { owner });
  return { status: answer.status, body: await answer.json() };
}

describe('models', () => {
  test('the models are listed in order, with what they can do and without keys or addresses', async () => {
    const { status, body } = await get('/api/models');
    expect(status).toBe(200);
    expect(body).toEqual({
      models: [
        {
          name: 'fast',
          model: 'gpt-x',
          display_name: 'fast',
          description: null,
          supports_thinking: false,
          supports_reasoning_effort: false,
          reasoning: { thinking: 'unsupported', effort: null, history: null, source: 'legacy' },
        },
        {
          name: 'deep',
          model: 'gpt-y',
          display_name: 'Deep',
          description: 'Thinks',
          supports_thinking: true,
          supports_reasoning_effort: true,
          reasoning: {
            thinking: 'optional',
            effort: { values: ['minimal', 'low', 'medium', 'high'], default: null, aliases: {} },
            history: null,
            source: 'legacy',
          },
        },
        {
          name: 'contracted',
          model: 'gpt-z',
          display_name: 'contracted',
          description: null,
          supports_thinking: true,
          supports_reasoning_effort: true,
          reasoning: {
            thinking: 'required',
            effort: { values: ['low', 'high'], default: null, aliases: {} },
            history: null,
            source: 'contract',
          },
        },
      ],
      token_usage: { enabled: true },
    });
    expect(JSON.stringify(body)).not.toMatch(/sk-secret|llm\.example\.org/);
  });

  test('one model is found by its name, an unknown one is not', async () => {
    expect(await get('/api/models/deep')).toMatchObject({ status: 200, body: { name: 'deep', display_name: 'Deep' } });
    expect(await get('/api/models/nope')).toEqual({ status: 404, body: { detail: "Model 'nope' not found" } });
  });

  test('while no model is configured, the built-in demo is the one to choose', async () => {
    await api.close();
    api = await startFilesApi();
    const { body } = await get('/api/models');
    expect(body).toMatchObject({
      models: [
        {
          name: 'demo',
          model: 'demo',
          display_name: 'Demo (offline)',
          supports_thinking: false,
          supports_reasoning_effort: false,
        },
      ],
    });
    expect((await get('/api/models/demo')).status).toBe(200);
  });
});

describe('assistants', () => {
  const search = async (json?: unknown) => {
    const answer = await api.call('POST', '/api/assistants/search', { json });
    const body = (await answer.json()) as Array<Record<string, unknown>>;
    return { status: answer.status, body };
  };

  test('the one assistant is found with, without and by conditions', async () => {
    const all = await search();
    expect(all.status).toBe(200);
    expect(all.body).toHaveLength(1);
    expect(all.body[0]).toMatchObject({
      assistant_id: 'lead_agent',
      graph_id: 'lead_agent',
      name: 'lead_agent',
      config: {},
      metadata: { created_by: 'system' },
      version: 1,
    });
    const found = async (json: unknown) => (await search(json)).body.length;
    expect(await found({})).toBe(1);
    expect(await found({ graph_id: 'lead_agent', limit: 10, offset: 0, metadata: null })).toBe(1);
    expect(await found({ graph_id: 'other' })).toBe(0);
    expect(await found({ name: 'Lead' })).toBe(1);
    expect(await found({ metadata: { created_by: 'somebody' } })).toBe(0);
    expect(await found({ offset: 1 })).toBe(0);
    expect((await search({ limit: 0 })).status).toBe(422);
  });

  test('its graph and schemas are empty, and other assistants are not found', async () => {
    expect(await get('/api/assistants/lead_agent')).toMatchObject({
      status: 200,
      body: { assistant_id: 'lead_agent' },
    });
    expect((await get('/api/assistants/lead_agent/graph')).body).toEqual({
      graph_id: 'lead_agent',
      nodes: [],
      edges: [],
    });
    expect((await get('/api/assistants/lead_agent/schemas')).body).toEqual({
      graph_id: 'lead_agent',
      input_schema: {},
      output_schema: {},
      state_schema: {},
      config_schema: {},
    });
    expect(await get('/api/assistants/nope')).toEqual({ status: 404, body: { detail: 'Assistant nope not found' } });
  });
});

describe('what is not offered yet', () => {
  test('features say that they are off', async () => {
    expect((await get('/api/features')).body).toEqual({
      agents_api: { enabled: false },
      browser_control: { enabled: false },
      mcp_tasks: { enabled: false },
      subagent_batches: { enabled: false, repository_available: false, worker_running: false, max_running: 0 },
      knowledge_base: { scope_selection_enabled: false },
      conversation_references: { enabled: false, max_references: 3 },
      scheduled_tasks: { available: false, running: false, tool_enabled: false, min_interval_seconds: 60 },
    });
  });

  test.each([
    ['/api/skills', { skills: [] }],
    ['/api/skills/custom', { skills: [] }],
    ['/api/suggestions/config', { enabled: false, max_suggestions: 3 }],
    ['/api/threads/t/goal', { goal: null }],
    ['/api/threads/t/mcp-tasks', []],
    ['/api/threads/t/subagent-batches', []],
    ['/api/threads/t/scheduled-tasks', []],
    ['/api/channels/providers', { enabled: false, providers: [] }],
    ['/api/channels/connections', { connections: [] }],
    ['/api/scheduled-tasks', []],
  ])('%s answers in the form that web interfaces read', async (path, body) => {
    expect(await get(path)).toEqual({ status: 200, body });
  });

  test.each([
    ['/api/skills/nope', 404],
    ['/api/skills/custom/nope', 404],
    ['/api/agents', 403],
    ['/api/agents/check?name=a', 403],
    ['/api/agents/a', 403],
    ['/api/user-profile', 403],
    ['/api/threads/t/mcp-tasks?limit=101', 422],
    ['/api/threads/t/subagent-batches?limit=0', 422],
    ['/api/threads/a.b/goal', 422],
  ])('%s is refused with %i', async (path, status) => {
    expect((await get(path)).status).toBe(status);
  });

  test('asking for follow-up questions gives none, and a request that does not fit is told so', async () => {
    const ask = async (json: unknown, owner = 'alice') => {
      const answer = await api.call('POST', '/api/threads/t/suggestions', { json, owner });
      return [answer.status, await answer.json()] as const;
    };
    expect(await ask({ messages: [{ role: 'user', content: 'hi' }], n: 3 })).toEqual([200, { suggestions: [] }]);
    expect(await ask({ messages: [] })).toEqual([200, { suggestions: [] }]);
    const [status, body] = await ask({ messages: [], n: 99 });
    expect([status, body]).toEqual([
      422,
      {
        detail: [
          {
            type: 'less_than_equal',
            loc: ['body', 'n'],
            msg: 'Input should be less than or equal to 5',
            input: 99,
            ctx: { le: 5 },
          },
        ],
      },
    ]);
    expect((await ask({}))[0]).toBe(422);
  });

  test('a thread of somebody else is not found here either', async () => {
    api.owners.set('t', 'alice');
    for (const part of ['goal', 'mcp-tasks', 'subagent-batches', 'scheduled-tasks']) {
      expect(await get(`/api/threads/t/${part}`, 'bob')).toEqual({
        status: 404,
        body: { detail: 'Thread t not found' },
      });
    }
  });
});

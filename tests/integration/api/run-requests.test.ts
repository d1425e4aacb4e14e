import { randomUUID } from 'node:crypto';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import { scriptRun } from '../../support/run-script';

let api: ApiHarness;
let threadId: string;
beforeAll(async () => {
  api = await startApiHarness();
  threadId = randomUUID();
  await api.request('POST', '/api/threads', { thread_id: threadId });
});
afterAll(() => api.close());

async function runCount(): Promise<number> {
  const { rows } = await api.database.database.pool.query<{ count: number }>('select count(*) as count from runs');
  return rows[0]?.count ?? -1;
}

async function threadCount(): Promise<number> {
  const { rows } = await api.database.database.pool.query<{ count: number }>('select count(*) as count from threads');
  return rows[0]?.count ?? -1;
}

const MODES = "'values', 'messages-tuple', 'updates', 'debug', 'tasks', 'checkpoints' or 'custom'";
const MODE_LITERAL = "literal['values','messages-tuple','updates','debug','tasks','checkpoints','custom']";

function unsupported(option: string, input: unknown) {
  const msg = `Run option '${option}' is not supported by DeerFlow`;
  return [{ type: 'unsupported_run_option', loc: ['body', option], msg, input, ctx: { option } }];
}

function unknownModes(modes: string, input: unknown) {
  const msg = `Unsupported stream mode(s): ${modes}`;
  return [{ type: 'unsupported_stream_mode', loc: ['body', 'stream_mode'], msg, input, ctx: { modes } }];
}

function literal(option: string, input: unknown, expected: string) {
  return [
    { type: 'literal_error', loc: ['body', option], msg: `Input should be ${expected}`, input, ctx: { expected } },
  ];
}

function dictionary(option: string, input: unknown) {
  return [{ type: 'dict_type', loc: ['body', option], msg: 'Input should be a valid dictionary', input }];
}

function extra(option: string, input: unknown) {
  return [{ type: 'extra_forbidden', loc: ['body', option], msg: 'Extra inputs are not permitted', input }];
}

const STRATEGIES = "'reject', 'rollback', 'interrupt' or 'enqueue'";

const REFUSED: Array<[body: object, faults: unknown[]]> = [
  [{ feedback_keys: ['a'] }, unsupported('feedback_keys', ['a'])],
  [{ feedback_keys: [] }, unsupported('feedback_keys', [])],
  [{ on_completion: 'complete' }, unsupported('on_completion', 'complete')],
  [{ stream_mode: 'messages' }, unknownModes('messages', 'messages')],
  [{ stream_mode: ['values', 'events'] }, unknownModes('events', ['values', 'events'])],
  [{ stream_mode: ['tools', 'nonsense'] }, unknownModes('tools, nonsense', ['tools', 'nonsense'])],
  [
    { stream_mode: 5 },
    [
      {
        type: 'list_type',
        loc: ['body', 'stream_mode', `list[${MODE_LITERAL}]`],
        msg: 'Input should be a valid list',
        input: 5,
      },
      {
        type: 'literal_error',
        loc: ['body', 'stream_mode', MODE_LITERAL],
        msg: `Input should be ${MODES}`,
        input: 5,
        ctx: { expected: MODES },
      },
    ],
  ],
  [{ multitask_strategy: 'queue' }, literal('multitask_strategy', 'queue', STRATEGIES)],
  [{ multitask_strategy: 5 }, literal('multitask_strategy', 5, STRATEGIES)],
  [{ on_disconnect: 'nope' }, literal('on_disconnect', 'nope', "'cancel' or 'continue'")],
  [{ if_not_exists: 'maybe' }, literal('if_not_exists', 'maybe', "'create' or 'reject'")],
  [{ durability: 'sync' }, extra('durability', 'sync')],
  [{ checkpoint_during: true }, extra('checkpoint_during', true)],
  [{ made_up: 1, strict_resume: null }, [...extra('made_up', 1), ...extra('strict_resume', null)]],
  [{ input: 'text' }, dictionary('input', 'text')],
  [{ input: [] }, dictionary('input', [])],
  [{ config: 'x' }, dictionary('config', 'x')],
  [{ metadata: [] }, dictionary('metadata', [])],
  [{ context: 'x' }, dictionary('context', 'x')],
  [{ checkpoint: 'x' }, dictionary('checkpoint', 'x')],
  [
    { config: { context: 'x' } },
    [{ type: 'dict_type', loc: ['body', 'config', 'context'], msg: 'Input should be a valid dictionary', input: 'x' }],
  ],
  [
    { interrupt_before: 5 },
    [
      {
        type: 'list_type',
        loc: ['body', 'interrupt_before', 'list[str]'],
        msg: 'Input should be a valid list',
        input: 5,
      },
      {
        type: 'literal_error',
        loc: ['body', 'interrupt_before', "literal['*']"],
        msg: "Input should be '*'",
        input: 5,
        ctx: { expected: "'*'" },
      },
    ],
  ],
  [
    { stream_subgraphs: 'maybe' },
    [
      {
        type: 'bool_parsing',
        loc: ['body', 'stream_subgraphs'],
        msg: 'Input should be a valid boolean, unable to interpret input',
        input: 'maybe',
      },
    ],
  ],
  [
    { assistant_id: 5 },
    [{ type: 'string_type', loc: ['body', 'assistant_id'], msg: 'Input should be a valid string', input: 5 }],
  ],
];

describe('a request that cannot be honoured', () => {
  it.each(REFUSED)('%j is told exactly what is wrong, and makes no run', async (body, faults) => {
    const before = await runCount();
    const answer = await api.request('POST', `/api/threads/${threadId}/runs/stream`, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ detail: faults });
    expect(await runCount()).toBe(before);
  });

  it.each<[object, number, unknown]>([
    [{ webhook: 'ftp://x' }, 422, expect.anything()],
    [{ after_seconds: -1 }, 422, expect.anything()],
    [{ after_seconds: 86_401 }, 422, expect.anything()],
    [{ stream_resumable: 'yes' }, 422, expect.anything()],
    [{ assistant_id: 'Bad Name!' }, 422, expect.anything()],
    [{ config: { configurable: { thread_id: 'a b' } } }, 422, expect.anything()],
    [{ metadata: { auth_token: 'x' } }, 422, expect.anything()],
    [{ config: { metadata: { auth_token: 'x' } } }, 422, expect.anything()],
    [{ context: { secrets: { a: 1 } } }, 422, expect.anything()],
    [{ conversation_references: ['a', 'b', 'c', 'd'] }, 422, expect.anything()],
    [{ context: { conversation_references: ['a', 'b', 'c', 'd'] } }, 422, expect.anything()],
    [{ conversation_references: ['a'] }, 400, 'read_conversation is not enabled'],
    [{ context: { model_name: 'ghost' } }, 400, "Model 'ghost' is not in the configured model allowlist"],
    [
      { config: { configurable: { model_name: 'ghost' } } },
      400,
      "Model 'ghost' is not in the configured model allowlist",
    ],
    [{ checkpoint_id: 'nope' }, 404, 'Checkpoint nope not found'],
    [{ checkpoint: { checkpoint_id: 'nope' } }, 404, 'Checkpoint nope not found'],
    [
      { checkpoint: { thread_id: 'other', checkpoint_id: 'x' } },
      400,
      'checkpoint thread_id does not match request thread_id',
    ],
    [
      { input: { messages: [{ role: 'user' }] } },
      400,
      "Invalid message at input.messages[0]: Message dict must contain 'role' and 'content' keys, got {'role': 'user'}",
    ],
    [
      { input: { messages: ['fine', { role: 'alien', content: 'x' }] } },
      400,
      "Invalid message at input.messages[1]: Unexpected message type: 'alien'. Use one of 'human', 'user', 'ai', " +
        "'assistant', 'function', 'tool', 'system', or 'developer'.",
    ],
    [{ input: { messages: 7 } }, 400, expect.stringContaining('input.messages')],
  ])('%j is refused before anything is stored', async (body, status, detail) => {
    const before = await runCount();
    const answer = await api.request('POST', `/api/threads/${threadId}/runs`, { input: null, ...body });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ detail });
    expect(await runCount()).toBe(before);
  });

  it('names references twice in vain', async () => {
    const body = { conversation_references: ['a'], context: { conversation_references: ['b'] } };
    const answer = await api.request('POST', `/api/threads/${threadId}/runs`, body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ type: 'conversation_references_conflict' }] } });
  });

  it('makes no thread either', async () => {
    const before = await threadCount();
    for (const body of [
      { metadata: { auth_token: 'x' } },
      { context: { model_name: 'ghost' } },
      { checkpoint_id: 'x' },
    ]) {
      expect((await api.request('POST', '/api/runs/stream', body)).status).toBeGreaterThanOrEqual(400);
    }
    expect(await threadCount()).toBe(before);
  });
});

describe('a request that asks for nothing unusual', () => {
  it.each<[string, object]>([
    ['nulls and switched-off options', { stream_resumable: false, webhook: null, feedback_keys: null, metadata: null }],
    ['options that only this product honours', { stream_resumable: true, webhook: 'https://example.com/hook' }],
    ['an agent that does not exist', { assistant_id: 'no-such-agent' }],
    ['no mode at all', { stream_mode: [] }],
    ['a step limit that does not count', { config: { recursion_limit: -1 } }],
    ['the newest checkpoint', { checkpoint: { checkpoint_ns: '', checkpoint_map: null } }],
  ])('is accepted with %s', async (_what, body) => {
    const own = randomUUID();
    await api.request('POST', '/api/threads', { thread_id: own });
    const answer = await api.request('POST', `/api/threads/${own}/runs`, { input: { messages: 'hi' }, ...body });
    expect(answer.status).toBe(200);
  });

  it('takes a checkpoint for a branch only if messages came after it', async () => {
    const own = randomUUID();
    await api.request('POST', '/api/threads', { thread_id: own });
    const first = (await api.stores.log.head(own))?.checkpointId;
    const optionsOf = async (body: object) => {
      const answer = await api.request('POST', `/api/threads/${own}/runs`, { input: { messages: 'hi' }, ...body });
      const { run_id: runId } = answer.body as { run_id: string };
      await (await scriptRun(api.stores, runId)).finish();
      return (await api.stores.runs.load(runId))?.options;
    };
    const checkpoint = { checkpoint_id: first, checkpoint_ns: '', checkpoint_map: null };
    expect((await optionsOf({ checkpoint }))?.checkpointId).toBeUndefined();
    await api.request('POST', `/api/threads/${own}/state`, { values: { title: 'Renamed' } });
    expect((await optionsOf({ checkpoint }))?.checkpointId).toBeUndefined();
    await api.request('POST', `/api/threads/${own}/state`, { values: { messages: 'later' } });
    expect((await optionsOf({ checkpoint }))?.checkpointId).toBe(first);
  });

  it.each([
    [50, 50],
    [5000, 1000],
    [99_999, 1000],
    ['x', undefined],
    ['50', undefined],
    [0, undefined],
    [-1, undefined],
    [1.5, undefined],
    [true, undefined],
    [null, undefined],
  ])('asks for a step limit of %j and gets %j, where nothing means the configured one', async (asked, limit) => {
    const own = randomUUID();
    await api.request('POST', '/api/threads', { thread_id: own });
    const body = { input: { messages: 'hi' }, config: { recursion_limit: asked } };
    const answer = await api.request('POST', `/api/threads/${own}/runs`, body);
    expect(answer.status).toBe(200);
    const row = await api.stores.runs.load((answer.body as { run_id: string }).run_id);
    expect(row?.options.recursionLimit).toBe(limit);
  });
});

describe('a model that always thinks', () => {
  let own: ApiHarness;
  beforeAll(async () => {
    const model = (name: string, reasoning: object) => ({
      name,
      use: 'langchain_openai:ChatOpenAI',
      model: name,
      api_key: 'k',
      reasoning,
    });
    own = await startApiHarness({
      config: {
        models: [
          model('strict', { thinking: 'required', on_disable_request: 'reject' }),
          model('lenient', { thinking: 'required' }),
        ],
      },
    });
  });
  afterAll(() => own.close());

  async function create(context: object): Promise<{ status: number; body: unknown }> {
    const thread = randomUUID();
    await own.request('POST', '/api/threads', { thread_id: thread });
    return own.request('POST', `/api/threads/${thread}/runs`, {
      assistant_id: 'lead_agent',
      input: { messages: [{ role: 'user', content: 'hi' }] },
      context,
    });
  }

  test.each([{ thinking_enabled: false }, { thinking_enabled: false, model_name: 'strict' }])(
    'and must not be asked otherwise refuses the run before it is stored: %j',
    async (context) => {
      expect(await create(context)).toMatchObject({
        status: 400,
        body: { detail: "Model 'strict' always thinks; thinking cannot be turned off for it" },
      });
    },
  );

  test.each([{}, { thinking_enabled: true }, { thinking_enabled: false, model_name: 'lenient' }, { mode: 'flash' }])(
    'takes a run that may have it its way: %j',
    async (context) => {
      expect(await create(context)).toMatchObject({ status: 200 });
    },
  );
});

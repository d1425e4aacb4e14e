import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AiMessage, Message } from '../../../../contracts';
import { modelConfigSchema } from '../../../../contracts/schemas/config/models';
import { acceptReply } from '../../../../core/messages/accept-reply';
import { failureDetail } from '../../../../models';
import type { ModelReply, ModelRequest, ReplyDelta } from '../../../../models';
import { findAdapter } from '../../../../models/adapters';
import { applyReasoning } from '../../../../models/reasoning';
import { createSilentLogger } from '../../../../observability';
import { responsesWire } from '../../../support/providers/responses-wire';
import type { ProviderAnswer, ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import { failure, human, results } from './support';

const OPENAI = 'langchain_openai:ChatOpenAI';
const CODEX = 'deerflow.models.openai_codex_provider:CodexChatModel';
const TOKEN = 'a-login-token-1234';
const LS = { name: 'ls', description: 'Lists a folder', parameters: { type: 'object', properties: {} } };

let server: ScriptedServer;
let folder: string;
beforeAll(async () => {
  server = await startScriptedServer();
  folder = await mkdtemp(join(tmpdir(), 'codex-'));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => void (server.requests.length = 0));

function model(parts: object, env: Record<string, string> = {}, thinking: boolean | null = null) {
  const usual = { name: 'own', use: OPENAI, model: 'gpt-5-example', api_key: 'sk-key-12345', base_url: server.url };
  const parsed = modelConfigSchema.parse({ ...usual, use_responses_api: true, ...parts });
  const { entry } = applyReasoning(parsed, { thinking, effort: null });
  const adapter = findAdapter(entry.use);
  if (adapter === undefined) throw new Error('there is no adapter');
  return adapter.create({
    entry,
    key: 'models[0]',
    stallTimeoutMs: (entry.stream_chunk_timeout ?? 2) * 1_000,
    env,
    log: createSilentLogger(),
  });
}

const ask = (
  parts: object,
  messages: Message[] = [human('hi')],
  request: Partial<ModelRequest> = {},
): Promise<ModelReply> =>
  model(parts).reply({ system: 'Be brief.', messages, tools: [LS], signal: AbortSignal.timeout(5_000), ...request });
const sent = () => server.requests.at(-1)?.body ?? {};

function events(...all: object[]): ProviderAnswer {
  return { contentType: 'text/event-stream', parts: all.map((event) => `data: ${JSON.stringify(event)}\n\n`) };
}
const completed = (response: object) => ({ type: 'response.completed', response: { model: 'm', ...response } });

describe('OpenAI’s Responses API', () => {
  it('is asked at /responses, with instructions apart, flat tools, and nothing to be kept by the provider', async () => {
    server.script(responsesWire.reply({ text: 'ok' }));
    const effort = { max_tokens: 500, reasoning_effort: 'low', supports_reasoning_effort: true, verbosity: 'low' };
    await ask({ ...effort, temperature: 0.5, extra_body: { reasoning: { summary: 'auto' } } });
    expect(server.requests.map(({ path }) => path)).toEqual(['/responses']);
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer sk-key-12345');
    expect(sent()).toEqual({
      model: 'gpt-5-example',
      temperature: 0.5,
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 500,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { verbosity: 'low' },
      instructions: 'Be brief.',
      tools: [{ type: 'function', ...LS, strict: false }],
      input: [{ type: 'message', role: 'user', content: 'hi' }],
    });
  });

  it('is asked for sealed thoughts only of a model that thinks, and forced to a tool in its own form', async () => {
    server.script(responsesWire.reply({ text: 'ok' }));
    await ask({ model: 'gpt-4.1' }, undefined, { toolChoice: 'ls' });
    expect(sent()).not.toHaveProperty('include');
    expect(sent()['tool_choice']).toEqual({ type: 'function', name: 'ls' });
  });

  it('gets its sealed thoughts back in their places, without ids, also after several in one reply', async () => {
    const thought = (sealed: string) => ({
      id: `rs_${sealed}`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: `about ${sealed}` }],
      encrypted_content: sealed,
    });
    const call = (id: string) => ({
      id: `fc_${id}`,
      type: 'function_call',
      call_id: id,
      name: 'ls',
      arguments: '{"a":1}',
    });
    const message = { id: 'msg', type: 'message', content: [{ type: 'output_text', text: 'Looking.' }] };
    const output = [thought('one'), { ...message, phase: 'commentary' }, call('c1'), thought('two'), call('c2')];
    server.script(events(completed({ output })), responsesWire.reply({ text: 'Done.' }));
    const reply = await ask({});
    expect(reply).toMatchObject({
      content: 'Looking.',
      toolCalls: [{ id: 'c1' }, { id: 'c2' }],
      additionalKwargs: { reasoning_content: 'about oneabout two' },
    });
    const stored = JSON.parse(JSON.stringify(acceptReply(reply, 'lc_run--1'))) as AiMessage;
    await ask({}, [human('hi'), stored, ...results(stored, 'a.txt')]);
    const back = ({ id: _, ...item }: ReturnType<typeof thought>) => item;
    const called = (call_id: string) => ({ type: 'function_call', call_id, name: 'ls', arguments: '{"a":1}' });
    expect(sent()['input']).toEqual([
      { type: 'message', role: 'user', content: 'hi' },
      back(thought('one')),
      { type: 'message', role: 'assistant', content: 'Looking.', phase: 'commentary' },
      called('c1'),
      back(thought('two')),
      called('c2'),
      { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
      { type: 'function_call_output', call_id: 'c2', output: 'a.txt' },
    ]);
  });

  it('gets no thought that another model sealed, and none of a call that was taken away', async () => {
    const seal = { text: 'let me see', signature: 'sealed' };
    const first = responsesWire.reply({ thinking: seal, calls: [{ id: 'c1', name: 'ls', args: {} }] });
    server.script(first, responsesWire.reply({ text: 'ok' }), responsesWire.reply({ text: 'ok' }));
    const stored = acceptReply(await ask({}), 'lc_run--1');
    await ask({ model: 'gpt-6-example' }, [human('hi'), stored, ...results(stored, 'a.txt')]);
    expect(JSON.stringify(sent())).not.toContain('sealed');
    await ask({}, [human('hi'), { ...stored, content: 'It was stopped.', tool_calls: [] }]);
    expect(JSON.stringify(sent()['input'])).toContain('It was stopped.');
    expect(JSON.stringify(sent()['input'])).not.toContain('sealed');
  });

  it('is sent ids of calls that it accepts, alike for a call and its result', async () => {
    const id = `deerflow_synthetic_tool_call_${'x'.repeat(80)}`;
    const call: AiMessage = acceptReply(
      {
        content: '',
        toolCalls: [{ id, name: 'ls', args: '{}' }],
        usage: null,
        finishReason: null,
        additionalKwargs: {},
        responseMetadata: {},
      },
      'm',
    );
    server.script(responsesWire.reply({ text: 'ok' }));
    await ask({}, [human('hi'), call, ...results(call, 'a.txt')]);
    const [, made, result] = sent()['input'] as Array<{ call_id: string }>;
    expect(made?.call_id).toMatch(/^call_[0-9a-f]{40}$/);
    expect(result?.call_id).toBe(made?.call_id);
  });

  it.each([
    ['length', 'length'],
    ['safety', 'content_filter'],
  ] as const)('says why a reply is incomplete: %s', async (finish, finishReason) => {
    server.script(responsesWire.reply({ text: 'I was about', finish }));
    expect(await ask({})).toMatchObject({ content: 'I was about', finishReason });
  });

  it('is understood when it streams only whole items, says all at the end, or does not stream at all', async () => {
    const item = { type: 'message', content: [{ type: 'output_text', text: 'Four.' }] };
    const done = { type: 'response.output_item.done', output_index: 0, item };
    const usage = {
      input_tokens: 3,
      output_tokens: 2,
      total_tokens: 6,
      output_tokens_details: { reasoning_tokens: 1 },
    };
    const whole = { output: [item], usage };
    const json = { parts: [JSON.stringify({ model: 'm', error: null, ...whole })] };
    server.script(events(done, completed({ output: [], usage })), events(completed(whole)), json);
    for (let round = 0; round < 3; round += 1) {
      const deltas: ReplyDelta[] = [];
      const reply = await ask({}, undefined, { onDelta: (delta) => void deltas.push(delta) });
      expect(reply).toMatchObject({ content: 'Four.', finishReason: 'stop', responseMetadata: { model_name: 'm' } });
      expect(reply.usage).toMatchObject({ total_tokens: 6, output_token_details: { reasoning: 1 } });
      expect(deltas.map(({ content }) => content).join('')).toBe('Four.');
    }
  });

  it('has answered when it says so, even if it keeps the connection', async () => {
    server.script({ ...responsesWire.reply({ text: 'Four.' }), hang: true });
    // Long before its silence would count as one.
    expect((await ask({ stream_chunk_timeout: 60 })).content).toBe('Four.');
  });

  it.each([
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'rate limit reached' }, 'model_rate_limited'],
    [{ type: 'error', error: { code: 'insufficient_quota', message: 'no quota' } }, 'model_quota'],
    [
      { type: 'response.failed', response: { error: { code: 'server_error', message: 'broken' } } },
      'model_unavailable',
    ],
    [{ type: 'response.failed', response: {} }, 'model_rejected'],
  ])('has failed of what an event of failure says: %j', async (event, code) => {
    server.script(events(event));
    expect((await failure(ask({}))).code).toBe(code);
  });

  it('is refused for classes that do not speak it, with what to use instead', () => {
    const azure = { azure_endpoint: 'https://a.example', api_version: '1' };
    expect(() => model({ use: 'langchain_deepseek:ChatDeepSeek' })).toThrow(/use_responses_api.*ChatOpenAI/);
    expect(() => model({ use: 'langchain_openai:AzureChatOpenAI', ...azure })).toThrow(/base_url: https:/);
  });
});

describe('Codex', () => {
  const codex = async (login: object | string, parts: object = {}, thinking: boolean | null = null) => {
    const path = join(folder, 'auth.json');
    await writeFile(path, typeof login === 'string' ? login : JSON.stringify(login));
    const entry = { use: CODEX, use_responses_api: null, api_key: null, supports_thinking: true, ...parts };
    return model(entry, { CODEX_AUTH_PATH: path }, thinking);
  };
  const askCodex = async (...given: Parameters<typeof codex>) =>
    (await codex(...given)).reply({
      system: '',
      messages: [human('hi')],
      tools: [],
      signal: AbortSignal.timeout(5_000),
    });

  it('is asked in the form that it accepts: the account of the login, and no length and no temperature', async () => {
    server.script(responsesWire.reply({ text: 'ok' }));
    await askCodex({ access_token: TOKEN, account_id: 'mine' }, { max_tokens: 500, temperature: 1, top_p: 0.5 });
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'chatgpt-account-id': 'mine',
      originator: 'codex_cli_rs',
      accept: 'text/event-stream',
    });
    expect(server.requests[0]?.path).toBe('/responses');
    expect(sent()).toEqual({
      model: 'gpt-5-example',
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'medium', summary: 'detailed' },
      instructions: expect.stringMatching(/./) as unknown,
      input: [{ type: 'message', role: 'user', content: 'hi' }],
    });
  });

  it.each([
    [{ reasoning_effort: 'xhigh', supports_reasoning_effort: true }, true, { effort: 'xhigh', summary: 'detailed' }],
    [{ reasoning_effort: 'minimal', supports_reasoning_effort: true }, null, { effort: 'medium', summary: 'detailed' }],
    [{}, false, { effort: 'none' }],
  ])('thinks as hard as it is asked to: %j', async (parts, thinking, reasoning) => {
    server.script(responsesWire.reply({ text: 'ok' }));
    await askCodex({ token: TOKEN }, parts, thinking);
    expect(sent()['reasoning']).toEqual(reasoning);
  });

  it('takes a new login at once', async () => {
    server.script(responsesWire.reply({ text: 'ok' }), responsesWire.reply({ text: 'ok' }));
    const signedIn = await codex({ tokens: { access_token: 'the-first-token', account_id: 'a' } });
    const request = { system: '', messages: [human('hi')], tools: [], signal: AbortSignal.timeout(5_000) };
    await signedIn.reply(request);
    await writeFile(join(folder, 'auth.json'), JSON.stringify({ tokens: { access_token: TOKEN } }));
    await signedIn.reply(request);
    const [before, after] = server.requests.map(({ headers }) => headers);
    expect([before?.['authorization'], after?.['authorization']]).toEqual([
      'Bearer the-first-token',
      `Bearer ${TOKEN}`,
    ]);
    expect(after).not.toHaveProperty('chatgpt-account-id');
  });

  it.each(['', '{}', '{"tokens":{}}', '{"token":5}', 'no JSON'])(
    'without a login in %j says how to get one, and asks nobody',
    async (login) => {
      const error = await failure(codex(login));
      expect(failureDetail(error)?.reason).toBe('auth');
      expect(error.message).toMatch(/CODEX_AUTH_PATH: log in/);
      expect(server.requests).toHaveLength(0);
    },
  );
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AiMessage, Message } from '../../../../contracts';
import { configSchema } from '../../../../contracts/schemas/config';
import { acceptReply } from '../../../../core/messages/accept-reply';
import type { ModelReply } from '../../../../models';
import { createChatModelFactory } from '../../../../models';
import { createLogger } from '../../../../observability';
import { responsesWire } from '../../../support/providers/responses-wire';
import type { ProviderAnswer, ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import { failure, human, results } from './support';

const KEY = 'sk-key-12345';
const CODEX = 'deerflow.models.openai_codex_provider:CodexChatModel';
let server: ScriptedServer;
let folder: string;
let lines: string[] = [];

beforeAll(async () => {
  server = await startScriptedServer();
  folder = mkdtempSync(join(tmpdir(), 'codex-'));
  writeFileSync(join(folder, 'auth.json'), JSON.stringify({ token: 'a-login-token-1234' }));
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  server.requests.length = 0;
  lines = [];
});

function model(entry: object = {}) {
  const usual = { name: 'own', use: 'langchain_openai:ChatOpenAI', model: 'gpt-5', api_key: KEY, base_url: server.url };
  const config = configSchema.parse({ models: [{ ...usual, use_responses_api: true, ...entry }] });
  const log = createLogger({ name: 'test', destination: { write: (line) => void lines.push(line) } });
  return createChatModelFactory({ config, env: { CODEX_AUTH_PATH: join(folder, 'auth.json') }, log }).resolve('own');
}

const ask = (messages: Message[] = [human('hi')], entry: object = {}): Promise<ModelReply> =>
  model(entry).reply({ system: '', messages, tools: [], signal: AbortSignal.timeout(5_000) });
const sent = () => server.requests.at(-1)?.body ?? {};
/** Through the database and back. */
const stored = (reply: ModelReply): AiMessage =>
  JSON.parse(JSON.stringify(acceptReply(reply, 'lc_run--1'))) as AiMessage;

function events(...all: object[]): ProviderAnswer {
  return { contentType: 'text/event-stream', parts: all.map((event) => `data: ${JSON.stringify(event)}\n\n`) };
}

describe('a thread whose thoughts the provider cannot open any more', () => {
  const text = 'The encrypted content gAAA could not be verified.';
  const error = { message: text, type: 'invalid_request_error', code: 'invalid_encrypted_content' };
  const call = { id: 'c1', name: 'ls', args: {} };
  const thought = { text: 'let me see', signature: 'sealed' };

  it.each([
    ['says so', { status: 400, parts: [JSON.stringify({ error })] }],
    ['says so behind a relay', { status: 400, parts: [JSON.stringify({ error: { message: text, code: '400' } })] }],
    ['says so as a stream', events({ type: 'response.failed', response: { error } })],
  ])('goes on without them where the provider %s', async (_how, refusal) => {
    server.script(responsesWire.reply({ thinking: thought, text: 'Looking.', calls: [call] }));
    const first = stored(await ask());
    server.script(refusal, responsesWire.reply({ thinking: { ...thought, signature: 'anew' }, text: 'Done.' }));
    const reply = await ask([human('hi'), first, ...results(first, 'a.txt')]);
    expect(reply.content).toBe('Done.');
    const [, refused, accepted] = server.requests.map(({ body }) => JSON.stringify(body));
    expect(refused).toContain('sealed');
    expect(accepted).not.toContain('sealed');
    for (const part of ['Looking.', 'function_call', 'a.txt']) expect(accepted).toContain(part);
    // What it thinks from now on is sent back again.
    server.script(responsesWire.reply({ text: 'ok' }));
    await ask([human('hi'), stored(reply), human('and?')]);
    expect(JSON.stringify(sent())).toContain('anew');
  });

  it('is told what the provider says where that is not the reason', async () => {
    const refusal = { status: 400, parts: [JSON.stringify({ error })] };
    server.script(refusal, refusal);
    const failed = await failure(ask());
    expect([failed.code, failed.message]).toEqual(['model_rejected', expect.stringContaining(text)]);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a reply of several messages', () => {
  const message = (output_index: number, text: string, phase: string) => [
    { type: 'response.output_text.delta', output_index, content_index: 0, delta: text },
    {
      type: 'response.output_item.done',
      output_index,
      item: { type: 'message', id: `msg_${output_index}`, phase, content: [{ type: 'output_text', text }] },
    },
  ];
  const reply = events(...message(0, 'I will look.', 'commentary'), ...message(1, 'It is four.', 'final_answer'), {
    type: 'response.completed',
    response: {},
  });
  const said = (content: string, phase?: string) => ({
    type: 'message',
    role: 'assistant',
    content,
    ...(phase === undefined ? {} : { phase }),
  });

  it('is read with a gap between them, and goes back as the messages that they were', async () => {
    server.script(reply, responsesWire.reply({ text: 'ok' }));
    const first = await ask();
    expect(first.content).toBe('I will look.\n\nIt is four.');
    await ask([stored(first)]);
    expect(sent()['input']).toEqual([said('I will look.', 'commentary'), said('It is four.', 'final_answer')]);
  });

  it('goes back in one piece where its text was changed since', async () => {
    server.script(reply, responsesWire.reply({ text: 'ok' }));
    const first = stored(await ask());
    await ask([{ ...first, content: 'It was stopped.' }]);
    expect(sent()['input']).toEqual([said('It was stopped.', 'commentary')]);
  });
});

it('a request that is refused in mid-stream is not sent again, whatever words its refusal has', async () => {
  const error = { code: 'invalid_prompt', message: 'This prompt is not allowed. Please try again with another one.' };
  for (const event of [{ type: 'response.failed', response: { error } }, { type: 'error', ...error }, { error }]) {
    server.script(events(event));
    expect(await failure(ask())).toMatchObject({ code: 'model_rejected', retryable: false });
  }
});

describe('what an entry says of reasoning', () => {
  it.each([
    [{ reasoning: { effort: 'high', summary: 'auto' } }, { effort: 'high', summary: 'auto' }],
    [{ reasoning: 'low' }, { effort: 'low' }],
    [
      { reasoning: { effort: 'low', summary: 'auto' }, supports_reasoning_effort: true, reasoning_effort: 'high' },
      { effort: 'high', summary: 'auto' },
    ],
    [
      { reasoning: { thinking: 'optional', effort: { values: ['low'], default: 'low', path: 'reasoning.effort' } } },
      { effort: 'low' },
    ],
    [
      { use: CODEX, reasoning: { summary: 'auto' } },
      { effort: 'medium', summary: 'auto' },
    ],
    [
      { use: CODEX, extra_body: { reasoning: { effort: 'high' } } },
      { effort: 'high', summary: 'detailed' },
    ],
  ])('reaches the provider: %j', async (entry, reasoning) => {
    server.script(responsesWire.reply({ text: 'ok' }));
    await ask(undefined, entry);
    expect(sent()['reasoning']).toEqual(reasoning);
  });
});

it('keys that mean nothing to Codex are named in the log, without what is in them', () => {
  model({ use: CODEX, api_key: KEY, top_p: 0.5, temprature: 1, max_tokens: 5, reasoning_effort: 'low' });
  expect(lines.join('')).toContain('"keys":["top_p","temprature","api_key"]');
  expect(lines.join('')).not.toContain(KEY);
});

import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { LOGIN_FILE } from '../../../../models/anthropic/login';
import type { Message } from '../../../../contracts';
import type { ProviderRequest, ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import { anthropicWire } from '../../../support/providers/anthropic-wire';
import { assistant, failureOf, human, TOOL, toolResult } from '../support';
import { ask, failureFrom, providerModel } from './provider-model';

const USE = 'deerflow.models.claude_provider:ClaudeChatModel';
const KEY = 'sk-ant-api-a-key';
const HOUR_MS = 3_600_000;

let server: ScriptedServer;
let home: string;

beforeAll(async () => {
  server = await startScriptedServer(anthropicWire);
});
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  home = mkdtempSync(join(tmpdir(), 'login-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const token = (name: string): string => `sk-ant-oat01-${name}`;

function writeLogin(path: string, name: string, expiresAt: unknown = Date.now() + HOUR_MS): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ claudeAiOauth: { accessToken: token(name), refreshToken: 'r', expiresAt } }));
}

const model = (env: Record<string, string> = {}, entry: object = {}) =>
  providerModel({ server, use: USE, entry, env: { HOME: home, ...env } });

async function sent(env: Record<string, string> = {}, entry: object = {}): Promise<ProviderRequest> {
  server.script(anthropicWire.reply({ text: 'ok' }));
  await ask(model(env, entry), [human('hi')], { tools: [TOOL] });
  const request = server.requests.at(-1);
  if (request === undefined) throw new Error('nothing was sent');
  return request;
}

const bearer = async (env: Record<string, string> = {}, entry: object = {}) =>
  (await sent(env, entry)).headers.authorization;

describe('the login of the command line', () => {
  it('is the last resort: a key, then a variable, a descriptor, a named file, and the file in the home', async () => {
    const named = join(home, 'named.json');
    writeLogin(join(home, LOGIN_FILE), 'home');
    expect(await bearer()).toBe(`Bearer ${token('home')}`);
    writeLogin(named, 'named');
    const env: Record<string, string> = { CLAUDE_CODE_CREDENTIALS_PATH: named };
    expect(await bearer(env)).toBe(`Bearer ${token('named')}`);
    const handed = join(home, 'handed');
    writeFileSync(handed, `${token('descriptor')}\n`);
    const descriptor = openSync(handed, 'r');
    env['CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR'] = String(descriptor);
    expect(await bearer(env)).toBe(`Bearer ${token('descriptor')}`);
    closeSync(descriptor);
    // A descriptor gives its text only once, and it holds for as long as the process lives.
    expect(await bearer(env)).toBe(`Bearer ${token('descriptor')}`);
    env['ANTHROPIC_AUTH_TOKEN'] = token('second');
    expect(await bearer(env)).toBe(`Bearer ${token('second')}`);
    env['CLAUDE_CODE_OAUTH_TOKEN'] = token('first');
    expect(await bearer(env)).toBe(`Bearer ${token('first')}`);
    const { headers } = await sent(env, { api_key: KEY });
    expect([headers['x-api-key'], headers.authorization]).toEqual([KEY, undefined]);
    env['ANTHROPIC_API_KEY'] = 'sk-ant-api-of-a-variable';
    expect((await sent(env)).headers['x-api-key']).toBe('sk-ant-api-of-a-variable');
  });

  it('in the home counts where the named file has none that can be used, and below ~ too', async () => {
    writeLogin(join(home, LOGIN_FILE), 'home');
    const named = join(home, 'named.json');
    for (const content of ['{', '[]', '{"claudeAiOauth":{"accessToken":7}}']) {
      writeFileSync(named, content);
      expect(await bearer({ CLAUDE_CODE_CREDENTIALS_PATH: named })).toBe(`Bearer ${token('home')}`);
    }
    writeLogin(named, 'named', Date.now() - 1);
    expect(await bearer({ CLAUDE_CODE_CREDENTIALS_PATH: named })).toBe(`Bearer ${token('home')}`);
    writeLogin(named, 'named');
    expect(await bearer({ CLAUDE_CODE_CREDENTIALS_PATH: '~/named.json' })).toBe(`Bearer ${token('named')}`);
  });

  it('that has expired, or will within a minute, is not used, and the user is told to log in again', async () => {
    writeLogin(join(home, LOGIN_FILE), 'home', Date.now() + 30_000);
    const failure = failureFrom(() => model());
    expect(failure.code).toBe('model_auth');
    expect(failure.message).toContain('expired: log in again');
    writeLogin(join(home, LOGIN_FILE), 'home', Date.now() + 90_000);
    expect(await bearer()).toBe(`Bearer ${token('home')}`);
    writeLogin(join(home, LOGIN_FILE), 'home', 0);
    expect(await bearer()).toBe(`Bearer ${token('home')}`);
  });

  it('that is renewed while the product runs counts from the next attempt on', async () => {
    writeLogin(join(home, LOGIN_FILE), 'old');
    const running = model();
    server.script(anthropicWire.reply({ text: 'ok' }), anthropicWire.reply({ text: 'ok' }));
    await ask(running, [human('hi')]);
    writeLogin(join(home, LOGIN_FILE), 'old', Date.now() - 1);
    const failure = await failureOf(ask(running, [human('hi')]));
    expect([failure.code, failure.retryable]).toEqual(['model_auth', false]);
    writeLogin(join(home, LOGIN_FILE), 'new');
    await ask(running, [human('hi')]);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${token('old')}`,
      `Bearer ${token('new')}`,
    ]);
  });

  it('that is nowhere is a matter of the configuration', () => {
    const failure = failureFrom(() => model());
    expect([failure.code, failure.message]).toEqual(['model_auth', expect.stringContaining('models[0].api_key')]);
    expect(() => model({}, { api_key: 'your-anthropic-api-key' })).toThrow('models[0].api_key');
  });

  it('is never shown where the provider refuses it', async () => {
    server.script(anthropicWire.error(401, 'authentication_error', `invalid token ${token('first')}`));
    const failure = await failureOf(ask(model({ CLAUDE_CODE_OAUTH_TOKEN: token('first') }), [human('hi')]));
    expect(failure.code).toBe('model_auth');
    expect(failure.message).not.toContain(token('first'));
  });
});

describe('a request with such a login', () => {
  const env = { CLAUDE_CODE_OAUTH_TOKEN: token('first') };

  it('carries it as a token and not as a key, and says what it uses of the provider', async () => {
    const { headers } = await sent(env);
    expect(headers.authorization).toBe(`Bearer ${token('first')}`);
    expect(headers['x-api-key']).toBeUndefined();
    expect(headers['anthropic-beta']).toMatch(
      /^oauth-2025-04-20,[a-z]+-code-20250219,interleaved-thinking-2025-05-14$/,
    );
  });

  it('has a text for the bill before all other instructions, which a variable replaces', async () => {
    const { system } = (await sent(env)).body;
    expect(system).toMatchObject([
      { text: expect.stringMatching(/^x-anthropic-billing-header: /) },
      { text: 'Be brief.' },
    ]);
    const other = await sent({ ...env, ANTHROPIC_BILLING_HEADER: 'another text' });
    expect(other.body['system']).toMatchObject([{ text: 'another text' }, { text: 'Be brief.' }]);
    server.script(anthropicWire.reply({ text: 'ok' }));
    await ask(model(env), [human('hi')], { system: '' });
    expect(server.requests.at(-1)?.body['system']).toHaveLength(1);
  });

  it('names machine and session, as JSON, unless the entry says who asks', async () => {
    const { metadata } = (await sent(env)).body as { metadata: { user_id: string } };
    expect(JSON.parse(metadata.user_id)).toEqual({
      device_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      account_uuid: 'deerflow',
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const own = await sent(env, { model_kwargs: { metadata: { user_id: 'me' } } });
    expect(own.body['metadata']).toEqual({ user_id: 'me' });
  });

  it('has no marks for a cache', async () => {
    expect(JSON.stringify((await sent(env)).body)).not.toContain('cache_control');
  });
});

describe('a request with a key', () => {
  const MARK = { cache_control: { type: 'ephemeral' } };

  const marksOf = async (messages: Message[], tools = [TOOL]) => {
    server.script(anthropicWire.reply({ text: 'ok' }));
    await ask(model({}, { api_key: KEY }), messages, { tools });
    const body = server.requests.at(-1)?.body as Record<'system' | 'messages' | 'tools', object[] | string | undefined>;
    const places = (name: 'system' | 'messages' | 'tools') =>
      (Array.isArray(body[name]) ? body[name] : []).flatMap((one: object, index) =>
        JSON.stringify(one).includes('cache_control') ? [index] : [],
      );
    const count = JSON.stringify(body).split('cache_control').length - 1;
    return { body, count, system: places('system'), messages: places('messages'), tools: places('tools') };
  };

  it('marks the end of instructions, messages and tools for the cache', async () => {
    const marks = await marksOf([human('hi')], [TOOL, { ...TOOL, name: 'other' }]);
    expect(marks).toMatchObject({ count: 3, system: [0], messages: [0], tools: [1] });
    expect(marks.body.tools).toMatchObject([{ name: 'ls' }, MARK]);
  });

  it('never has more than four marks: the last of instructions, three messages and the last tool', async () => {
    const talk = [human('1'), assistant('a'), human('2'), assistant('b'), human('3'), assistant('c'), human('4')];
    expect(await marksOf(talk)).toMatchObject({ count: 4, system: [], messages: [2, 4, 6], tools: [0] });
    expect(await marksOf(talk, [])).toMatchObject({ count: 4, system: [0], messages: [2, 4, 6], tools: [] });
  });

  it('marks one place in the results of one turn, empty ones too, and pictures', async () => {
    const calls: Array<[string, string]> = [
      ['c1', 'ls'],
      ['c2', 'ls'],
      ['c3', 'ls'],
    ];
    const results = [toolResult('c1', 'a'), toolResult('c2', 'b'), toolResult('c3', '')];
    const { body, count } = await marksOf([human('look'), assistant('', calls), ...results]);
    expect(count).toBe(4);
    expect(body.messages?.[2]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: 'a' },
        { type: 'tool_result', tool_use_id: 'c2', content: 'b' },
        { type: 'tool_result', tool_use_id: 'c3', ...MARK },
      ],
    });
    const picture = human([{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } }]);
    expect((await marksOf([picture])).messages).toEqual([0]);
  });

  it('carries the headers of the entry', async () => {
    const { headers } = await sent({}, { api_key: KEY, default_headers: { 'X-Gateway': 'one' } });
    expect(headers['x-gateway']).toBe('one');
  });

  it('sends no login of a variable beside the key', async () => {
    const before = process.env['ANTHROPIC_AUTH_TOKEN'];
    process.env['ANTHROPIC_AUTH_TOKEN'] = token('of the process');
    try {
      const { headers } = await sent({}, { api_key: KEY });
      expect([headers['x-api-key'], headers.authorization]).toEqual([KEY, undefined]);
    } finally {
      if (before === undefined) delete process.env['ANTHROPIC_AUTH_TOKEN'];
      else process.env['ANTHROPIC_AUTH_TOKEN'] = before;
    }
  });

  it.each([
    [{}, 8192, 6553],
    [{ max_tokens: 16_384 }, 16_384, 13_107],
    [{ thinking: { type: 'enabled', budget_tokens: 2_000 } }, 8192, 2_000],
  ])(
    'lets the model think with four fifths of its tokens, or with as many as are set: %j',
    async (parts, most, budget) => {
      const { body } = await sent({}, { api_key: KEY, thinking: { type: 'enabled' }, ...parts });
      expect(body).toMatchObject({ max_tokens: most, thinking: { type: 'enabled', budget_tokens: budget } });
    },
  );
});

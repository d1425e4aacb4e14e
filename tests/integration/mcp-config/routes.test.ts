import { readdir, rm, writeFile } from 'node:fs/promises';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import { createMcpClient, detailOf, serversOf } from './support';
import type { Servers } from './support';

const SECRET = 'sk-very-secret-0123';
let api: ApiHarness;
const mcp = createMcpClient(() => api);

beforeAll(async () => {
  api = await startApiHarness({ env: { TOKEN_IN_ENVIRONMENT: SECRET } });
});
beforeEach(() => mcp.store({}));
afterAll(() => api.close());

const STDIO = { type: 'stdio', command: 'npx', args: ['-y', 'pkg'], env: { TOKEN: SECRET }, description: 'd' };
const HTTP = { type: 'http', url: 'https://mcp.example.com', headers: { 'X-API-Key': SECRET }, enabled: false };
const OAUTH = {
  type: 'http',
  url: 'https://mcp.example.com',
  oauth: { token_url: 'https://login.example.com', client_id: 'me', client_secret: SECRET, refresh_token: SECRET },
};

describe('an administrator', () => {
  it('replaces the list, and sees every server whole, with its secrets masked', async () => {
    const answer = await mcp.put({ s1: STDIO, s2: HTTP });
    const defaults = {
      oauth: null,
      routing: { mode: 'off', priority: 0, keywords: [] },
      tools: {},
      tool_name_prefix: true,
      tool_call_timeout: null,
      session_init_timeout: 60,
      task_toolsets: [],
    };
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        mcp_servers: {
          s1: { ...defaults, ...STDIO, enabled: true, env: { TOKEN: '***' }, url: null, headers: {} },
          s2: {
            ...defaults,
            ...HTTP,
            command: null,
            args: [],
            env: {},
            headers: { 'X-API-Key': '***' },
            description: '',
          },
        },
      },
    ]);
    expect((await mcp.get()).body).toEqual(answer.body);
    expect(await mcp.stored()).toEqual({ s1: STDIO, s2: HTTP });
    expect(serversOf(await mcp.put({}))).toEqual({});
  });

  it('sends back what was shown, and nothing of what is stored changes', async () => {
    const stored: Servers = {
      plain: { ...STDIO, apiKey: SECRET, nested: [{ password: SECRET, open: 1 }], tools: { get_token: {} } },
      named: { command: 'uvx', args: ['$TOKEN_IN_ENVIRONMENT'], env: { A: '$TOKEN_IN_ENVIRONMENT' } },
      oauth: { ...OAUTH, oauth: { ...OAUTH.oauth, extra_token_params: { secret: SECRET, a: 'b' } } },
    };
    await mcp.store(stored, { skills: { a: { enabled: false } }, mine: '$TOKEN_IN_ENVIRONMENT' });
    const shown = await mcp.get();
    expect(shown.text).not.toContain(SECRET);
    expect(serversOf(shown)['named']?.['args']).toEqual(['$TOKEN_IN_ENVIRONMENT']);
    expect(serversOf(shown)['oauth']?.['oauth']).toMatchObject({ client_id: 'me', client_secret: null });

    const answer = await mcp.put(serversOf(shown));
    expect([answer.status, answer.text]).toEqual([200, shown.text]);
    const after = await mcp.stored();
    for (const [name, server] of Object.entries(stored)) expect(after[name]).toMatchObject(server);
    expect(await mcp.file()).toMatchObject({
      skills: { a: { enabled: false } },
      mine: '$TOKEN_IN_ENVIRONMENT',
    });
  });

  it('switches one server on and off, and learns where there is none', async () => {
    await mcp.put({ s1: STDIO, s2: HTTP });
    expect(serversOf(await mcp.toggle('s2', true))).toMatchObject({ s1: { enabled: true }, s2: { enabled: true } });
    expect(serversOf(await mcp.toggle('s1', false))).toMatchObject({ s1: { enabled: false }, s2: { enabled: true } });
    const answer = await mcp.toggle('nope', true);
    expect([answer.status, answer.body]).toEqual([404, { detail: "MCP server 'nope' not found" }]);
  });

  it('adds servers without touching others, and takes no name twice', async () => {
    await mcp.put({ s1: STDIO });
    expect(Object.keys(serversOf(await mcp.add({ s2: HTTP, s3: OAUTH })))).toEqual(['s1', 's2', 's3']);
    const taken = await mcp.add({ s4: HTTP, s1: STDIO });
    expect([taken.status, detailOf(taken)]).toEqual([409, "MCP server 's1' already exists"]);
    expect(Object.keys(await mcp.stored())).toEqual(['s1', 's2', 's3']);
  });

  it('replaces one server, and removes one, whatever its name', async () => {
    await mcp.put({ s1: STDIO, 'a/b ü': HTTP });
    const changed = await mcp.replace('s1', { command: 'uvx', args: ['other'], env: { TOKEN: '***' } });
    expect(serversOf(changed)['s1']).toMatchObject({ command: 'uvx', args: ['other'], description: '' });
    expect((await mcp.stored())['s1']?.['env']).toEqual({ TOKEN: SECRET });
    expect(Object.keys(serversOf(await mcp.remove('a/b ü')))).toEqual(['s1']);
    expect([(await mcp.remove('gone')).status, (await mcp.replace('gone', STDIO)).status]).toEqual([404, 404]);
  });

  it('may reset what is kept of tools, and is told that nothing is', async () => {
    const answer = await api.request('POST', '/api/mcp/cache/reset');
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, message: expect.stringContaining('nothing to reset') },
    ]);
  });
});

describe('a secret', () => {
  it.each([
    ['an environment variable', { ...STDIO, env: { NEW: '***' } }, 'NEW in env'],
    ['a header', { ...HTTP, headers: { NEW: '***' } }, 'NEW in headers'],
    ['a key with a secret name', { ...HTTP, api_key: '***' }, 'api_key'],
    ['a parameter of OAuth', { ...OAUTH, oauth: { extra_token_params: { password: '***' } } }, 'password'],
  ])('that is the mask of %s is refused where nothing is stored, and the place is named', async (_, server, place) => {
    for (const answer of [await mcp.put({ s: server }), await mcp.add({ s: server })]) {
      expect([answer.status, detailOf(answer)]).toEqual([400, expect.stringContaining(place)]);
    }
    expect(await mcp.stored()).toEqual({});
  });

  it('of OAuth stays when null is sent or it is left out, and goes with empty text', async () => {
    await mcp.put({ s: OAUTH });
    const { client_secret: _secret, ...rest } = OAUTH.oauth;
    await mcp.put({ s: { ...OAUTH, oauth: { ...rest, refresh_token: null } } });
    expect((await mcp.stored())['s']?.['oauth']).toMatchObject({ client_secret: SECRET, refresh_token: SECRET });
    await mcp.put({ s: { ...OAUTH, oauth: { ...rest, client_secret: '', refresh_token: 'new' } } });
    expect((await mcp.stored())['s']?.['oauth']).toMatchObject({ client_secret: null, refresh_token: 'new' });
  });

  it('is in no answer to a request that does not fit', async () => {
    const answer = await mcp.put({ s: { ...STDIO, env: { TOKEN: [SECRET] }, headers: SECRET } });
    expect([answer.status, answer.text.includes(SECRET)]).toEqual([422, false]);
  });
});

describe('what a request leaves out', () => {
  it('stays where clients of older versions do not know it', async () => {
    const more = {
      routing: { mode: 'prefer', priority: 5 },
      tools: { t: { routing: { mode: 'off' } } },
      tool_call_timeout: 7,
      mine: { a: 1 },
    };
    await mcp.store({ s: { ...STDIO, ...more } });
    await mcp.put({ s: { command: 'npx', args: ['-y', 'pkg'] } });
    expect(await mcp.stored()).toEqual({ s: { ...more, command: 'npx', args: ['-y', 'pkg'] } });
  });
});

describe('a request that does not fit', () => {
  it.each([
    ['PUT', '/api/mcp/config', { mcp_servers: 'x' }, ['body', 'mcp_servers']],
    ['PUT', '/api/mcp/config', {}, ['body', 'mcp_servers']],
    ['PUT', '/api/mcp/config', { mcp_servers: { s: { type: 'pigeon' } } }, ['body', 'mcp_servers', 's', 'type']],
    [
      'POST',
      '/api/mcp/config/servers',
      { mcp_servers: { s: { routing: { mod: 'prefer' } } } },
      ['body', 'mcp_servers', 's', 'routing', 'mod'],
    ],
    ['PUT', '/api/mcp/config/server', { server_name: 's' }, ['body', 'server']],
    ['PATCH', '/api/mcp/config', { server_name: 's', enabled: 'maybe' }, ['body', 'enabled']],
  ])('%s %s %j is told its place', async (method, path, body, loc) => {
    const answer = await api.request(method, path, body);
    expect([answer.status, detailOf(answer)]).toEqual([422, [expect.objectContaining({ loc })]]);
    expect(await mcp.stored()).toEqual({});
  });

  it('names the type in the words that clients know', async () => {
    const input = 'x';
    expect(detailOf(await mcp.put(input))).toEqual([
      { type: 'dict_type', loc: ['body', 'mcp_servers'], msg: 'Input should be a valid dictionary', input },
    ]);
  });
});

describe('a user who is no administrator', () => {
  it.each([
    ['GET', '/api/mcp/config'],
    ['PUT', '/api/mcp/config'],
    ['PATCH', '/api/mcp/config'],
    ['POST', '/api/mcp/config/servers'],
    ['PUT', '/api/mcp/config/server'],
    ['DELETE', '/api/mcp/config/servers/s'],
    ['POST', '/api/mcp/cache/reset'],
  ])('is refused at %s %s, whatever is sent', async (method, path) => {
    const body = method === 'GET' ? undefined : { nonsense: 1 };
    const answer = await api.request(method, path, body, { 'x-test-role': 'user' });
    expect([answer.status, answer.body]).toEqual([
      403,
      { detail: 'Admin privileges required to manage MCP configuration.' },
    ]);
  });
});

describe('the file', () => {
  it('of which only a part is there is shown as it was, and is changed only once it is whole', async () => {
    await mcp.put({ s: STDIO });
    await writeFile(mcp.path(), '{"mcpServers": {"s": {"comm');
    expect(Object.keys(serversOf(await mcp.get()))).toEqual(['s']);
    const refused = await mcp.toggle('s', false);
    expect([refused.status, detailOf(refused)]).toEqual([503, expect.stringContaining('expected JSON')]);
    await mcp.store({ s: STDIO, other: HTTP });
    expect(serversOf(await mcp.toggle('s', false))).toMatchObject({ s: { enabled: false }, other: {} });
  });

  it('that is gone is not made anew with one change alone', async () => {
    await mcp.put({ s: STDIO });
    await rm(mcp.path());
    const refused = await mcp.add({ other: HTTP });
    expect([refused.status, detailOf(refused)]).toEqual([503, expect.stringContaining('it is gone')]);
    expect(Object.keys(serversOf(await mcp.get()))).toEqual(['s']);
  });

  it('keeps the changes of all who write at once, whichever process they ask', async () => {
    const other = await api.another();
    try {
      const urls = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? api.url : other.url));
      const answers = await Promise.all(
        urls.map((url, index) =>
          fetch(`${url}/api/mcp/config/servers`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ mcp_servers: { [`s${index}`]: HTTP } }),
          }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
      expect(Object.keys(serversOf(await mcp.get()))).toHaveLength(12);
      expect((await readdir(api.home)).filter((name) => name.includes('extensions'))).toEqual([
        'extensions_config.json',
      ]);
    } finally {
      await other.close();
    }
  });
});

it('servers that config.yaml sets itself are shown, and a change of them says where they are', async () => {
  const fixed = await startApiHarness({ config: { extensions: { mcpServers: { fixed: HTTP } } } });
  try {
    expect(Object.keys(serversOf(await fixed.request('GET', '/api/mcp/config')))).toEqual(['fixed']);
    const answer = await fixed.request('PUT', '/api/mcp/config', { mcp_servers: {} });
    expect([answer.status, detailOf(answer)]).toEqual([409, expect.stringContaining('config.yaml')]);
    expect(await readdir(fixed.home)).not.toContain('extensions_config.json');
  } finally {
    await fixed.close();
  }
});

import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';

const KEY = 'sk-live-0123456789abcdef';
const YAML_MODEL = {
  name: 'from-file',
  use: 'langchain_openai:ChatOpenAI',
  model: 'gpt-file',
  api_key: 'sk-of-the-file',
};

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness({ config: { models: [YAML_MODEL] } });
});
afterEach(async () => {
  await api.database.database.pool.query('delete from managed_models');
});
afterAll(() => api.close());

interface Shown extends Record<string, unknown> {
  name: string;
  revision: string;
}

const put = (config: object, expected_revision: string | null = null) =>
  api.request('PUT', '/api/managed-models', { config, expected_revision });
const test_ = (config: object, expected_revision: string | null = null) =>
  api.request('POST', '/api/managed-models/test', { config, expected_revision });

async function saved(config: object, revision: string | null = null): Promise<Shown> {
  const answer = await put(config, revision);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body as Shown;
}

async function listed(): Promise<Shown[]> {
  return ((await api.request('GET', '/api/managed-models')).body as { models: Shown[] }).models;
}

async function offered(): Promise<string[]> {
  const { body } = await api.request('GET', '/api/models');
  return (body as { models: Shown[] }).models.map(({ name }) => name);
}

const OPENAI = { provider: 'openai', model: 'gpt-4o', api_key: KEY };
const CUSTOM = { provider: 'openai-compatible', model: 'local', base_url: 'http://127.0.0.1:9/v1' };

/** What an edit in the web interface sends: the whole record, without its key. */
const edited = (record: Shown, change: object) => ({
  name: record.name,
  provider: 'openai',
  model: 'gpt-4o',
  ...change,
});

describe('an administrator registers a model', () => {
  it('with provider, model id and key alone, and it is offered at once under a made-up ASCII name', async () => {
    const record = await saved(OPENAI);
    expect(record).toEqual({
      name: expect.stringMatching(/^openai-gpt-4o-[0-9a-f]{10}$/),
      provider: 'openai',
      display_name: 'OpenAI / gpt-4o',
      model: 'gpt-4o',
      base_url: 'https://api.openai.com/v1',
      enabled: true,
      supports_vision: null,
      context_window: null,
      max_tokens: null,
      reasoning: null,
      revision: expect.stringMatching(/^[0-9a-f]{32}$/),
      has_api_key: true,
      source: 'managed',
    });
    expect(await offered()).toEqual(['from-file', record.name]);
  });

  it('twice the same or with an id of any script and length, and no name is taken twice or is unsafe', async () => {
    const models = ['模型/第 1 版', '模型/第 1 版', 'a/../b c', 'x'.repeat(200), '🦌'.repeat(200)];
    const names = await Promise.all(models.map(async (model) => (await saved({ ...OPENAI, model })).name));
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,99}$/);
  });

  it('and the key is nowhere to be read: not in answers, and not in the database', async () => {
    const record = await saved(OPENAI);
    const answers = await Promise.all(
      ['/api/managed-models', '/api/models', `/api/models/${record.name}`].map((path) => api.request('GET', path)),
    );
    for (const { status, text } of answers) expect([status, text.includes(KEY)]).toEqual([200, false]);
    expect((await api.request('GET', '/api/managed-models')).text).not.toContain('sk-of-the-file');
    const { rows } = await api.database.database.pool.query<{ sealed: string }>('select * from managed_models');
    expect(JSON.stringify(rows)).not.toContain(KEY);
    expect(rows[0]?.sealed).toMatch(/^fernet:v2:/);
  });

  it('and sees those of the file first, in the same list', async () => {
    const record = await saved(CUSTOM);
    expect(await listed()).toEqual([
      { name: 'from-file', display_name: 'from-file', model: 'gpt-file', source: 'config', enabled: true },
      { ...record, conflict: false, has_api_key: false, base_url: 'http://127.0.0.1:9/v1' },
    ]);
  });

  it('and another API process offers it within a second', async () => {
    const other = await api.another();
    try {
      const { name } = await saved(OPENAI);
      const deadline = Date.now() + 1_000;
      let text = '';
      while (!text.includes(name) && Date.now() < deadline)
        text = await (await fetch(`${other.url}/api/models`)).text();
      expect(text).toContain(name);
    } finally {
      await other.close();
    }
  });

  it('and a disabled one is listed, but not offered', async () => {
    const { name } = await saved({ ...OPENAI, enabled: false });
    expect((await listed()).map((model) => model.name)).toEqual(['from-file', name]);
    expect(await offered()).toEqual(['from-file']);
  });

  it('and finds what each provider needs', async () => {
    const { status, body } = await api.request('GET', '/api/managed-models/providers');
    const { providers } = body as { providers: Array<Record<string, unknown>> };
    expect([status, providers.length]).toEqual([200, 12]);
    expect(providers[0]).toEqual({ id: 'openai', label: 'OpenAI', requires_api_key: true, requires_base_url: false });
    expect(providers.at(-1)).toMatchObject({
      id: 'openai-compatible',
      requires_api_key: false,
      requires_base_url: true,
    });
  });
});

describe('a user who is no administrator', () => {
  it.each([
    ['GET', '/api/managed-models'],
    ['GET', '/api/managed-models/providers'],
    ['PUT', '/api/managed-models'],
    ['POST', '/api/managed-models/test'],
  ])('is refused at %s %s, whatever is sent', async (method, path) => {
    const body = method === 'GET' ? undefined : { nonsense: 1 };
    const answer = await api.request(method, path, body, { 'x-test-role': 'user' });
    expect([answer.status, answer.body]).toEqual([
      403,
      { detail: 'Admin privileges are required to manage shared models.' },
    ]);
  });

  it('may use what is offered', async () => {
    const { name } = await saved(OPENAI);
    const answer = await api.request('GET', `/api/models/${name}`, undefined, { 'x-test-role': 'user' });
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ name, model: 'gpt-4o' })]);
  });
});

describe('two administrators', () => {
  const CHANGED = { detail: 'Model changed or already exists; reload before saving' };

  it('cannot overwrite what they have not seen', async () => {
    const first = await saved({ ...OPENAI, name: 'shared' });
    const second = await saved(edited(first, { display_name: 'Mine' }), first.revision);
    expect(second.revision).not.toBe(first.revision);
    const stale = await put(edited(first, { display_name: 'Yours' }), first.revision);
    expect([stale.status, stale.body]).toEqual([409, CHANGED]);
    expect((await listed())[1]).toMatchObject({ display_name: 'Mine', has_api_key: true });
  });

  it('at the same moment: one change is kept, the other is refused', async () => {
    const first = await saved({ ...OPENAI, name: 'shared' });
    const answers = await Promise.all(
      ['A', 'B', 'C', 'D'].map((name) => put(edited(first, { display_name: name }), first.revision)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('cannot create one name twice', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => put({ ...OPENAI, name: 'same' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await put({ ...OPENAI, name: 'same' })).body).toEqual(CHANGED);
  });

  it('are told when the model is gone', async () => {
    const answer = await put({ ...OPENAI, name: 'gone' }, 'abc');
    expect([answer.status, answer.body]).toEqual([404, { detail: 'Model no longer exists' }]);
  });
});

describe('a name of config.yaml', () => {
  it('cannot be taken', async () => {
    const answer = await put({ ...OPENAI, name: 'from-file' });
    expect([answer.status, answer.body]).toEqual([409, { detail: 'This model name is reserved by config.yaml' }]);
  });

  it('that comes later wins: the managed model is shown as a conflict and the one of the file answers', async () => {
    await saved({ ...OPENAI, name: 'later' });
    const later = await startApiHarness({ config: { models: [{ ...YAML_MODEL, name: 'later' }] } });
    try {
      // The other deployment has the row and the key of this one.
      await copyFile(`${api.home}/.credentials_key`, `${later.home}/.credentials_key`);
      const { rows } = await api.database.database.pool.query('select name, revision, sealed from managed_models');
      const { name, revision, sealed } = rows[0] as Record<string, string>;
      await later.database.database.pool.query(
        'insert into managed_models (name, revision, sealed) values ($1, $2, $3)',
        [name, revision, sealed],
      );
      const list = (await later.request('GET', '/api/managed-models')).body as { models: Shown[] };
      expect(list.models.map(({ name, source, conflict }) => ({ name, source, conflict }))).toEqual([
        { name: 'later', source: 'config', conflict: undefined },
        { name: 'later', source: 'managed', conflict: true },
      ]);
      const { body } = await later.request('GET', '/api/models');
      expect((body as { models: Shown[] }).models.map(({ name, model }) => [name, model])).toEqual([
        ['later', 'gpt-file'],
      ]);
    } finally {
      await later.close();
    }
  });
});

describe('the key of a model', () => {
  it('stays when an edit leaves it out, or sends null', async () => {
    const first = await saved(OPENAI);
    const second = await saved(edited(first, { max_tokens: 5 }), first.revision);
    const third = await saved(edited(first, { api_key: null }), second.revision);
    expect([second.has_api_key, second.max_tokens, third.has_api_key]).toEqual([true, 5, true]);
  });

  it('can be cleared only once the model is disabled', async () => {
    const first = await saved(OPENAI);
    const refused = await put(edited(first, { api_key: '' }), first.revision);
    expect([refused.status, (refused.body as { detail: object[] }).detail]).toEqual([
      422,
      [
        {
          type: 'value_error',
          loc: ['body', 'config', 'api_key'],
          msg: 'Value error, a key is needed for this provider; disable the model before its key is cleared',
        },
      ],
    ]);
    const cleared = await saved(edited(first, { api_key: '', enabled: false }), first.revision);
    expect(cleared.has_api_key).toBe(false);
    expect((await put(edited(first, { enabled: true }), cleared.revision)).status).toBe(422);
  });

  it('is never sent to another provider or address', async () => {
    const first = await saved(OPENAI);
    const elsewhere = [
      edited(first, { provider: 'deepseek' }),
      edited(first, { provider: 'deepseek', enabled: false }),
      edited(first, { provider: 'openai-compatible', base_url: 'https://api.openai.com/v1' }),
    ];
    for (const config of elsewhere) expect((await put(config, first.revision)).status).toBe(422);
    const moved = await saved(edited(first, { provider: 'deepseek', api_key: 'sk-other' }), first.revision);
    expect(moved).toMatchObject({ provider: 'deepseek', has_api_key: true, base_url: 'https://api.deepseek.com' });
  });

  it('of a custom address stays with this address, however it is written', async () => {
    const first = await saved({ ...CUSTOM, name: 'custom', api_key: 'sk-local' });
    const same = await saved({ ...CUSTOM, name: 'custom', base_url: 'HTTP://127.0.0.1:9/v1/' }, first.revision);
    expect(same.has_api_key).toBe(true);
    const other = { ...CUSTOM, name: 'custom', base_url: 'http://127.0.0.1:10/v1' };
    expect((await put(other, same.revision)).status).toBe(422);
    const open = await saved({ ...other, api_key: '' }, same.revision);
    expect(open.has_api_key).toBe(false);
    expect((await saved({ ...CUSTOM, name: 'custom' }, open.revision)).has_api_key).toBe(false);
  });

  it.each(['********', 'sk-****1234', '••••••••', '....', 'has space', 'ключ'])('is not %j', async (api_key) => {
    const answer = await put({ ...OPENAI, api_key });
    expect([answer.status, answer.text.includes(api_key)]).toEqual([422, false]);
  });
});

describe('a request that does not fit is refused without any part of it in the answer:', () => {
  const SECRET = 'sk-must-not-come-back';
  it.each([
    ['an address for a preset', { ...OPENAI, base_url: 'https://evil.example/SECRET' }, 'base_url'],
    ['an address of null for a preset', { ...OPENAI, base_url: null }, 'base_url'],
    ['another adapter', { ...OPENAI, use: SECRET }, 'use'],
    ['a protocol', { ...OPENAI, protocol: SECRET }, 'protocol'],
    ['headers', { ...OPENAI, default_headers: { authorization: SECRET } }, 'default_headers'],
    ['a revision among the fields', { ...OPENAI, revision: SECRET }, 'revision'],
    ['an unknown provider', { ...OPENAI, provider: SECRET }, 'provider'],
    ['a key that is no text', { ...OPENAI, api_key: { value: SECRET } }, 'api_key'],
    ['no key for a preset', { provider: 'openai', model: 'gpt-4o' }, 'api_key'],
    ['an empty model id', { ...OPENAI, model: '  ' }, 'model'],
    ['a model id of 201 characters', { ...OPENAI, model: 'm'.repeat(201) }, 'model'],
    ['a model id with a line break', { ...OPENAI, model: `gpt\n${SECRET}` }, 'model'],
    ['a model id with a NUL', { ...OPENAI, model: `gpt\u0000${SECRET}` }, 'model'],
    ['a name with a slash', { ...OPENAI, name: `a/${SECRET}` }, 'name'],
    ['a name of 101 characters', { ...OPENAI, name: 'n'.repeat(101) }, 'name'],
    ['a long display name', { ...OPENAI, display_name: 'd'.repeat(101) }, 'display_name'],
    ['a window of nothing', { ...OPENAI, context_window: 0 }, 'context_window'],
    ['a cap that is a flag', { ...OPENAI, max_tokens: true }, 'max_tokens'],
    ['an effort path into headers', reasoning('default_headers.authorization'), 'path'],
    ['an effort path into the body', reasoning('extra_body.anything'), 'path'],
    ['no address for a custom provider', { provider: 'openai-compatible', model: 'x' }, 'base_url'],
    ...[
      'ftp://host/v1',
      'https://user:pass@host/v1',
      'https://host/v1?key=1',
      'https://host/v1?',
      'https://host/v1#part',
      'https://host:0/v1',
      'https:///v1',
      'https://host\\@other/v1',
      'host/v1',
      `https://host/${'a'.repeat(2048)}`,
    ].map((base_url): [string, object, string] => [
      `the address ${base_url.slice(0, 40)}`,
      { ...CUSTOM, base_url },
      'base_url',
    ]),
  ])('%s', async (_case, config, place) => {
    const answers = await Promise.all([put(config), test_(config)]);
    for (const answer of answers.slice(0, place === 'api_key' && !('api_key' in config) ? 1 : 2)) {
      expect(answer.status).toBe(422);
      const { detail } = answer.body as { detail: Array<Record<string, unknown>> };
      expect(detail.every((fault) => !('input' in fault))).toBe(true);
      expect(detail.some(({ loc }) => (loc as unknown[]).at(-1) === place)).toBe(true);
      expect(answer.text).not.toMatch(/sk-must-not|sk-live|evil|user:pass/);
    }
  });

  it.each([
    ['no body', undefined],
    ['a text', '"sk-must-not-come-back"'],
    ['broken JSON', '{"config": {"api_key": "sk-must-not-come-back"'],
    ['an unknown part', { config: OPENAI, expected_revision: null, 'sk-must-not-come-back': 1 }],
    ['a key as the name of a field', { config: { ...OPENAI, 'sk-must-not-come-back': 1 } }],
    ['an update without a name', { config: OPENAI, expected_revision: 'abc' }],
  ])('%s', async (_case, body) => {
    const answer = await api.request('PUT', '/api/managed-models', body);
    expect([answer.status, answer.text.includes('sk-')]).toEqual([422, false]);
  });

  function reasoning(path: string) {
    return { ...OPENAI, reasoning: { thinking: 'optional', effort: { values: ['low'], path } } };
  }
});

describe('a verified reasoning contract', () => {
  it('is kept and offered', async () => {
    const contract = { thinking: 'optional', effort: { values: ['low', 'high'], path: 'extra_body.reasoning_effort' } };
    const { name } = await saved({ ...OPENAI, reasoning: contract });
    const { body } = await api.request('GET', `/api/models/${name}`);
    expect(body).toMatchObject({
      supports_thinking: true,
      reasoning: { thinking: 'optional', effort: { values: ['low', 'high'] }, source: 'contract' },
    });
  });
});

describe('a test of a model', () => {
  it('without the key that its provider needs asks nobody', async () => {
    const answer = await test_({ provider: 'openai', model: 'gpt-4o' });
    expect([answer.status, answer.body]).toEqual([200, { ok: false, message: 'missing_api_key' }]);
    expect(await listed()).toHaveLength(1);
  });

  it('of a changed model, or with its key for another address, is refused', async () => {
    const first = await saved({ ...CUSTOM, name: 'custom', api_key: 'sk-local' });
    const config = { ...CUSTOM, name: 'custom' };
    const stale = await test_(config, 'older');
    const elsewhere = await test_({ ...config, base_url: 'http://127.0.0.1:10/v1' }, first.revision);
    for (const answer of [stale, elsewhere]) {
      expect([answer.status, answer.body]).toEqual([409, { detail: 'Model changed; reload before testing' }]);
    }
  });

  it('that nobody answers says so in one word', async () => {
    const answer = await test_({ ...CUSTOM, api_key: KEY });
    expect([answer.status, answer.body]).toEqual([200, { ok: false, message: 'connection_failed' }]);
  });
});

describe('a catalogue whose key is gone', () => {
  const TEXT = 'Managed model storage is unavailable; check the catalog and encryption key';

  it('is neither listed, nor added to, nor written over; what the file has stays offered', async () => {
    await saved(OPENAI);
    const path = `${api.home}/.credentials_key`;
    const key = await readFile(path, 'utf8');
    await rm(path);
    try {
      const before = (await api.database.database.pool.query('select * from managed_models')).rows;
      const answers = [await api.request('GET', '/api/managed-models'), await put({ ...OPENAI, name: 'another' })];
      for (const answer of answers) expect([answer.status, answer.body]).toEqual([503, { detail: TEXT }]);
      await expect(readFile(path, 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
      expect((await api.database.database.pool.query('select * from managed_models')).rows).toEqual(before);
      expect(await offered()).toContain('from-file');
    } finally {
      await writeFile(path, key, { mode: 0o600 });
    }
    expect((await api.request('GET', '/api/managed-models')).status).toBe(200);
  });

  it('is not fooled by a row that was put under another name', async () => {
    await saved({ ...OPENAI, name: 'one' });
    await api.database.database.pool.query("update managed_models set name = 'two'");
    expect((await api.request('GET', '/api/managed-models')).status).toBe(503);
  });
});

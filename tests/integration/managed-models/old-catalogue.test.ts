import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fernetKey } from '../../../config';
import { generateFernetKey, sealFernet } from '../../../config/credentials/fernet';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';

let api: ApiHarness;
beforeEach(async () => {
  api = await startApiHarness({ config: { models: [] } });
});
afterEach(() => api.close());

/** As DeerFlow's first version of the catalogue wrote it. */
const RECORDS = [
  {
    name: 'local',
    provider: 'openai-compatible',
    display_name: 'Local',
    model: 'llama',
    base_url: 'http://127.0.0.1:9/v1',
    enabled: true,
    supports_vision: true,
    context_window: 8192,
    max_tokens: null,
    revision: '0123456789abcdef0123456789abcdef',
    api_key: 'sk-of-before',
  },
  { name: 'open', display_name: '', model: 'x', base_url: 'http://127.0.0.1:9', enabled: false, revision: 'r2' },
];
const TEXT = 'Managed model storage is unavailable; check the catalog and encryption key';

interface Keys {
  /** What is in the key file, where it is not the key of the catalogue. */
  writtenKey?: string;
}

async function writeCatalogue(records: unknown = RECORDS, { writtenKey }: Keys = {}) {
  const key = generateFernetKey();
  const folder = join(api.home, 'managed-models');
  const opened = fernetKey(key);
  if (opened === null) throw new Error('The test has no key.');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'catalog.enc'), sealFernet(opened, JSON.stringify(records)));
  await writeFile(join(folder, 'key'), writtenKey ?? key);
  return folder;
}

async function contentOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')])),
  );
}

const list = () => api.request('GET', '/api/managed-models');

it("takes DeerFlow's own catalogue over with its names, revisions and keys, and leaves the files as they are", async () => {
  const folder = await writeCatalogue();
  const before = await contentOf(folder);
  const { status, body } = await list();
  expect([status, body]).toMatchObject([
    200,
    {
      models: [
        {
          name: 'local',
          revision: RECORDS[0]?.revision,
          has_api_key: true,
          supports_vision: true,
          context_window: 8192,
        },
        { name: 'open', display_name: 'open', revision: 'r2', has_api_key: false, enabled: false },
      ],
    },
  ]);
  expect(await contentOf(folder)).toEqual(before);
  const config = { name: 'local', model: 'llama', base_url: 'http://127.0.0.1:9/v1' };
  const edit = { config, expected_revision: RECORDS[0]?.revision };
  expect((await api.request('PUT', '/api/managed-models', edit)).body).toMatchObject({ has_api_key: true });
  expect(await contentOf(folder)).toEqual(before);
});

it('does it once: what is changed afterwards is not undone by the files, in no process and at no start', async () => {
  await writeCatalogue();
  await list();
  const config = { name: 'local', model: 'changed', base_url: 'http://127.0.0.1:9/v1' };
  await api.request('PUT', '/api/managed-models', { config, expected_revision: RECORDS[0]?.revision });
  await api.database.database.pool.query("delete from managed_models where name = 'open'");
  await writeFile(join(api.home, 'managed-models', 'key'), generateFernetKey());
  const other = await api.another();
  try {
    const { models } = (await (await fetch(`${other.url}/api/managed-models`)).json()) as { models: object[] };
    expect(models).toMatchObject([{ name: 'local', model: 'changed' }]);
  } finally {
    await other.close();
  }
});

it('keeps what is registered already under one of its names', async () => {
  const config = { name: 'local', model: 'newer', base_url: 'http://127.0.0.1:9/v1' };
  await api.request('PUT', '/api/managed-models', { config, expected_revision: null });
  await writeCatalogue();
  const { models } = (await list()).body as { models: object[] };
  expect(models).toMatchObject([{ name: 'local', model: 'newer' }, { name: 'open' }]);
});

it.each([
  ['another key', () => writeCatalogue(RECORDS, { writtenKey: generateFernetKey() })],
  ['a key that is none', () => writeCatalogue(RECORDS, { writtenKey: 'lost' })],
  ['no list in it', () => writeCatalogue({ sk: 'sk-of-before' })],
  ['a record without a name', () => writeCatalogue([{ ...RECORDS[0], name: undefined }])],
  [
    'a catalogue that was cut off',
    async () => {
      const folder = await writeCatalogue();
      await writeFile(join(folder, 'catalog.enc'), 'gAAAAABl');
      return folder;
    },
  ],
])(
  'with %s the catalogue is closed: nothing is listed, added or written, until the pair is restored',
  async (_case, damage) => {
    const folder = await damage();
    const before = await contentOf(folder);
    const config = { name: 'new', model: 'x', base_url: 'http://127.0.0.1:9/v1' };
    const answers = [
      await list(),
      await api.request('PUT', '/api/managed-models', { config, expected_revision: null }),
    ];
    for (const { status, body } of answers) expect([status, body]).toEqual([503, { detail: TEXT }]);
    expect(await contentOf(folder)).toEqual(before);
    expect((await api.database.database.pool.query('select 1 from managed_models')).rowCount).toBe(0);
    await writeCatalogue();
    expect((await list()).status).toBe(200);
  },
);

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FakeModel } from '../../support/fake-model';
import { fail, say, startFakeModel } from '../../support/fake-model';
import { testServices } from '../../support/services';

interface Finding {
  about: string;
  status: string;
  text: string;
  remedy?: string;
}

const SECRET = 'sk-doctor-secret-1234';
const run = promisify(execFile);
let folder: string;
let model: FakeModel;

beforeAll(async () => {
  model = await startFakeModel();
});
afterAll(() => model.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deer-flow-doctor-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The command as a user runs it, on the servers of the test run. */
async function doctor(config: string | null, args: readonly string[] = [], env: Record<string, string> = {}) {
  const { databaseUrl, temporalAddress } = testServices();
  if (config !== null) await writeFile(join(folder, 'config.yaml'), config);
  const options = {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      DEER_FLOW_HOME: join(folder, 'home'),
      ...env,
    },
    timeout: 60_000,
  };
  const ended = await run(process.execPath, [join(process.cwd(), 'dist/scripts/doctor.js'), ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  expect(ended.stdout + ended.stderr).not.toContain(SECRET);
  return ended;
}

async function findings(
  ...input: Parameters<typeof doctor>
): Promise<{ healthy: boolean; code: number; all: Finding[] }> {
  const [config, args = [], env] = input;
  const { code, stdout } = await doctor(config, ['--json', ...args], env);
  const { healthy, findings: all } = JSON.parse(stdout) as { healthy: boolean; findings: Finding[] };
  return { healthy, code, all };
}

const entry = (parts: string): string =>
  `models:\n  - {name: m, use: "langchain_openai:ChatOpenAI", model: m, api_key: ${SECRET}, base_url: "${model.baseUrl}"${parts}}\n`;
const about = (all: readonly Finding[], name: string): Finding[] => all.filter((finding) => finding.about === name);

describe('npm run doctor', () => {
  it('finds nothing to refuse in a good installation, and measures a commit and a durable step', async () => {
    const { healthy, code, all } = await findings(entry(''));
    expect({ healthy, code }).toEqual({ healthy: true, code: 0 });
    expect(about(all, 'database').map(({ text }) => text)).toEqual(
      expect.arrayContaining([expect.stringMatching(/a commit takes \d/)]),
    );
    expect(about(all, 'Temporal').map(({ text }) => text)).toEqual(
      expect.arrayContaining([expect.stringMatching(/a durable step takes \d/)]),
    );
  });

  it('names file, line and key of a wrong value, and ends with 1', async () => {
    const { code, all } = await findings(`${entry('')}title:\n  max_chars: 5\n`);
    expect(code).toBe(1);
    expect(about(all, 'configuration')).toEqual([
      expect.objectContaining({
        status: 'refused',
        text: 'config.yaml:4: title.max_chars: expected at least 10, got 5',
      }),
    ]);
  });

  it('says that MCP servers are kept and not used, and where their file is wrong', async () => {
    const file = join(folder, 'extensions_config.json');
    await writeFile(file, JSON.stringify({ mcpServers: { one: { command: 'npx', env: { KEY: SECRET } } } }));
    const good = await findings(entry(''));
    expect([good.code, about(good.all, 'extensions')]).toEqual([
      0,
      [{ about: 'extensions', status: 'not_active', text: expect.stringMatching(/^MCP servers \(1\) .*not use/) }],
    ]);
    await writeFile(file, JSON.stringify({ mcpServers: { one: { args: SECRET } } }));
    const bad = await findings(entry(''));
    expect([bad.code, about(bad.all, 'extensions')]).toEqual([
      1,
      [expect.objectContaining({ status: 'refused', text: expect.stringContaining('mcpServers.one.args') })],
    ]);
  });

  it('lists what has no effect, and says why several instances would be refused', async () => {
    const config = `${entry('')}scheduler: {enabled: true}\nmemory: {enabled: true}\nnews: {}\n`;
    const { code, all } = await findings(config, [], { DEER_FLOW_MULTI_INSTANCE: '1' });
    expect(code).toBe(1);
    expect(about(all, 'configuration').map(({ status, text }) => `${status} ${text}`)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^not_active scheduler /),
        'not_active at their defaults, and without an effect yet: memory',
        expect.stringMatching(/^warning config\.yaml: news is unknown/),
      ]),
    );
    const refused = about(all, 'deployment').filter(({ status }) => status === 'refused');
    expect(refused.map(({ text }) => text.split(':')[0])).toEqual(['scheduler.multi_instance', 'database.backend']);
    expect(refused.every(({ remedy }) => remedy !== undefined)).toBe(true);
  });

  it('says of a model what the log of a worker would, and which package to install for one that is not built in', async () => {
    const other = '  - {name: other, use: "langchain_mistralai:ChatMistralAI", model: m}\n';
    const { all } = await findings(`${entry(', top_q: 1')}${other}`);
    expect(about(all, 'models').map(({ status, text }) => `${status} ${text}`)).toEqual([
      'warning m: unknown keys of a model entry are sent as they are (top_q)',
      expect.stringMatching(/^ok m can be built/),
      expect.stringMatching(
        /^refused other: .*npm install @langchain\/mistralai, and write npm:@langchain\/mistralai#ChatMistralAI$/,
      ),
    ]);
  });

  it('asks the models only when it is told to, and tells a wrong key from a right one', async () => {
    model.requests.length = 0;
    model.script('m', [say('ok'), fail(401, { message: `the key ${SECRET} is wrong` })]);
    await findings(entry(''));
    expect(model.requests).toHaveLength(0);
    expect(about((await findings(entry(''), ['--live'])).all, 'models')).toEqual([
      expect.objectContaining({ status: 'ok', text: expect.stringMatching(/^m answered after \d+ ms$/) as string }),
    ]);
    const { code, all } = await findings(entry(''), ['--live']);
    expect(code).toBe(1);
    expect(about(all, 'models')[0]).toMatchObject({
      status: 'refused',
      text: expect.stringMatching(/API key/) as string,
    });
  });

  it('says which server does not answer, without its password', async () => {
    const { code, all } = await findings(null, [], {
      DATABASE_URL: `postgresql://user:${SECRET}@127.0.0.1:1/db`,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    });
    expect(code).toBe(1);
    expect(about(all, 'database')[0]).toMatchObject({
      status: 'refused',
      text: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect(about(all, 'Temporal')[0]).toMatchObject({ status: 'refused' });
  });

  it('prints text for people, and explains itself', async () => {
    const { stdout } = await doctor(entry(''));
    expect(stdout).toMatch(/\nNothing would be refused/);
    expect((await doctor(null, ['--help'])).stdout).toContain('--live');
    expect((await doctor(null, ['--wrong'])).code).toBe(2);
  });
});

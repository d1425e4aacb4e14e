import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useProduct } from '../e2e/acceptance/scenario';
import { say } from '../support/fake-model';
import { testServices } from '../support/services';

/** A section whose lines were all commented out is null in YAML, and crashed the start. */
const SECTIONS = ['sandbox', 'tools', 'tool_groups', 'skills', 'uploads', 'title', 'llm_call', 'runs', 'stream_bridge'];
const INACTIVE = ['database', 'memory', 'summarization'];

describe('sections without a value', () => {
  const used = useProduct({ config: Object.fromEntries([...SECTIONS, ...INACTIVE].map((name) => [name, null])) });

  test('have their defaults, and the product works', async () => {
    used.script(say('works'));
    const ended = await used.run(await used.api.newThread(), 'hi');
    expect(ended.status).toBe('success');
  });
});

describe('a list of models without a value', () => {
  const used = useProduct({ config: { models: null } });

  test('is the built-in model', async () => {
    const ended = await used.run(await used.api.newThread(), 'hi');
    expect(ended.status).toBe('success');
    expect(ended.llm_call_count).toBeGreaterThan(0);
    expect(used.model.requests).toEqual([]);
  });
});

describe('a section that cannot be used', () => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'deer-flow-config-'));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  async function startWith(script: string, yaml: string): Promise<{ code: number | null; output: string }> {
    const path = join(home, 'config.yaml');
    await writeFile(path, yaml);
    const { databaseUrl, temporalAddress } = testServices();
    const child = spawn(process.execPath, [join(__dirname, '..', '..', script)], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: databaseUrl,
        TEMPORAL_ADDRESS: temporalAddress,
        DEER_FLOW_HOME: home,
        DEER_FLOW_CONFIG_PATH: path,
        GATEWAY_PORT: '0',
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    }
    const [code] = (await once(child, 'exit')) as [number | null];
    return { code, output };
  }

  const wrong: Array<[string, string, string]> = [
    ['a model without a name', 'models:\n  - use: langchain_openai:ChatOpenAI\n    model: x\n', 'models[0].name'],
    ['a text where a number belongs', 'recursion_limit: many\n', 'recursion_limit'],
    ['a key that does not exist', 'lead_prompt_overlay:\n  colour: red\n', 'lead_prompt_overlay'],
    ['a list where a section belongs', 'runs: [1]\n', 'runs'],
    ['no YAML at all', 'models: [unclosed\n', 'config.yaml:2'],
  ];

  test.each(wrong)('(%s) stops the start with one line that names file and key', async (_what, yaml, key) => {
    const outcomes = await Promise.all([
      startWith('dist/api/server.js', yaml),
      startWith('dist/workers/worker.js', yaml),
    ]);
    for (const { code, output } of outcomes) {
      expect(code).toBe(1);
      expect(output.trim().split('\n')).toHaveLength(1);
      expect(output).toMatch(/^config\.yaml:\d+: /);
      expect(output).toContain(key);
      expect(output).not.toMatch(/\n\s+at /);
    }
  });
});

/** Whatever a run through any provider leaves behind is searched for everything secret that was put into it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runWorkflowId } from '../../../contracts';
import { ADAPTERS } from '../../../models/adapters';
import { findInstallation } from '../../../workers/stack/project-root';
import type { ApiClient, Product } from '../../support/product';
import { ask, createApiClient, startProduct } from '../../support/product';
import type { ProviderAnswer, ScriptedServer } from '../../support/providers/scripted-server';
import { startScriptedServer } from '../../support/providers/scripted-server';
import { formsOf, newSecret, SECRET_SCENARIOS } from '../../support/providers/secret-scenarios';
import type { SecretScenario } from '../../support/providers/secret-scenarios';
import { SCRIPTED_MODEL } from '../../support/providers/wire';
import { testServices } from '../../support/services';
import { runIdOf } from './scenario';

interface Planted extends SecretScenario {
  name: string;
  secrets: { key: string; header: string; password: string };
}

const LOGIN_VARIABLE = 'CLAUDE_CODE_OAUTH_TOKEN';
const MODES = ['values', 'messages-tuple', 'updates', 'debug', 'tasks', 'checkpoints', 'custom'];
const ENVIRONMENT = { id: 'c1', name: 'bash', args: { command: 'env; set', description: 'looks around' } };

const PLANTED = SECRET_SCENARIOS.map((scenario, index): Planted => {
  const secrets = { key: newSecret(), header: newSecret(), password: newSecret() };
  return { ...scenario, name: `model-${index}`, secrets };
});
const all = new Set(PLANTED.flatMap(({ secrets }) => Object.values(secrets)));
const variables: Record<string, string> = {};
const loginFile = join(mkdtempSync(join(tmpdir(), 'login-')), 'auth.json');

let server: ScriptedServer;
let product: Product;
let api: ApiClient;

beforeAll(async () => {
  server = await startScriptedServer();
  const plain = PLANTED.map((planted) => entryOf(planted, planted.name, server.url));
  const withPassword = PLANTED.map((planted) => {
    const address = server.url.replace('//', `//someone:${planted.secrets.password}@`);
    return entryOf(planted, `${planted.name}-address`, address);
  });
  const models = [...plain, ...withPassword];
  const llm_call = { retry_max_attempts: 1 };
  product = await startProduct({ config: { models, log_level: 'debug', llm_call }, env: variables });
  api = createApiClient(() => product.url);
});
afterAll(async () => {
  await server.close();
  await product.close();
  rmSync(dirname(loginFile), { recursive: true });
});

function entryOf({ use, key, address, header, secrets }: Planted, name: string, url: string): Record<string, unknown> {
  const described = { name, use, model: SCRIPTED_MODEL, ...address(url), ...header(secrets.header) };
  if (key === 'literal') return { ...described, api_key: secrets.key };
  if (key === 'login file') {
    writeFileSync(loginFile, JSON.stringify({ tokens: { access_token: secrets.key, account_id: 'account-example' } }));
    variables['CODEX_AUTH_PATH'] = loginFile;
    return described;
  }
  const variable = key === 'login' ? LOGIN_VARIABLE : `${name.toUpperCase().replaceAll('-', '_')}_PLAIN`;
  variables[variable] = key === 'login' ? `sk-ant-oat01-${secrets.key}` : secrets.key;
  return key === 'login' ? described : { ...described, api_key: `$${variable}` };
}

/** An error as a careless provider words it: with all that it was sent, and with no form that gives a secret away. */
function telling({ secrets, key }: Planted): string {
  const sent = key === 'login' ? `sk-ant-oat01-${secrets.key}` : secrets.key;
  return `the value ${sent} with ${secrets.header} is not valid`;
}

/** A run, and every answer about it that a client can get. */
async function runAndRead(modelName: string, ...answers: ProviderAnswer[]) {
  server.script(...answers);
  const secret = newSecret();
  all.add(secret);
  const threadId = await api.newThread();
  const { frames } = await api.stream({
    path: `/api/threads/${threadId}/runs/stream`,
    body: ask('go', { stream_mode: MODES, context: { model_name: modelName, secrets: { API_TOKEN: secret } } }),
  });
  const runId = runIdOf(frames);
  const record = await api.ended(threadId, runId);
  const [thread, run] = [`/api/threads/${threadId}`, `/api/threads/${threadId}/runs/${runId}`];
  const paths = [thread, `${thread}/state`, `${thread}/messages`, `${thread}/runs`, run, `${run}/events`];
  const read = await Promise.all(paths.map(async (path) => (await api.request('GET', path)).body));
  const { body: history } = await api.request('POST', `${thread}/history`, {});
  const again = await api.stream({ path: `${run}/stream` });
  return {
    record,
    texts: {
      stream: JSON.stringify([frames, again.frames]),
      answers: JSON.stringify([record, read, history]),
      history: await historyText(runId),
    },
  };
}

/** The whole history; payloads are bytes, which as text show what they carry. */
async function historyText(runId: string): Promise<string> {
  const workflow = product.temporal.workflow.getHandle(runWorkflowId(runId));
  // The workflow closes a moment after the run has ended.
  await workflow.result().catch(() => undefined);
  const history = await workflow.fetchHistory();
  return JSON.stringify([history, await workflow.describe()], (_key, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
  });
}

function expectNoSecret(texts: Record<string, string>): void {
  const found = Object.entries(texts).flatMap(([place, text]) => {
    expect([place, text.length > 20]).toEqual([place, true]);
    return [...all].flatMap((secret) =>
      formsOf(secret).some((form) => text.includes(form)) ? [`${place}: ${kindOf(secret)}`] : [],
    );
  });
  expect(found).toEqual([]);
}

function kindOf(secret: string): string {
  for (const { use, secrets } of PLANTED) {
    const kind = Object.entries(secrets).find(([, value]) => value === secret)?.[0];
    if (kind !== undefined) return `${kind} of ${use}`;
  }
  return 'secret of a run';
}

test('every adapter is searched: a new one needs a scenario', () => {
  const kind = (use: string) => use.replace(/^npm:.*/, 'npm:');
  const searched = new Set(SECRET_SCENARIOS.map(({ use }) => kind(use)));
  const registered = new Set(ADAPTERS.flatMap(({ uses }) => uses).map(kind));
  expect([...searched].sort()).toEqual([...registered].sort());
});

describe.each(PLANTED)(
  'a run with $use$variant leaves no secret in its stream, its answers and its history',
  (planted) => {
    const { name, wire, secrets } = planted;

    test('when it ends well, and its agent looks at the environment', async () => {
      server.requests.length = 0;
      const { record, texts } = await runAndRead(
        name,
        wire.reply({ text: 'I look.', calls: [ENVIRONMENT] }),
        wire.reply({ text: 'All is well.' }),
      );
      expect(record).toMatchObject({ status: 'success', llm_call_count: 2 });
      expect(texts.stream).toContain('All is well.');
      // The provider itself got what belongs to it, and of the other secrets none.
      const sent = JSON.stringify(server.requests.map(({ headers, path, body }) => ({ headers, path, body })));
      const others = [...all].filter((secret) => secret !== secrets.key && secret !== secrets.header);
      expect(others.filter((secret) => sent.includes(secret))).toEqual([]);
      expectNoSecret(texts);
    });

    test('when the provider refuses what it was sent and repeats it', async () => {
      const { record, texts } = await runAndRead(name, wire.error(401, 'authentication_error', telling(planted)));
      expect(record).toMatchObject({ status: 'error', error: { code: 'model_auth' } });
      expect(JSON.stringify(record.error)).toContain('is not valid');
      expectNoSecret(texts);
    });

    test('when the provider repeats it in the middle of a reply', async () => {
      const { record, texts } = await runAndRead(
        name,
        wire.breakdown('It begins', 'authentication_error', telling(planted)),
      );
      expect(record.status).toBe('error');
      if (planted.tellsLateErrors) expect(JSON.stringify(record.error)).toContain('is not valid');
      expectNoSecret(texts);
    });

    test('when a password is in the address', async () => {
      const { record, texts } = await runAndRead(`${name}-address`, wire.error(401, 'error', secrets.password));
      expect(record.status).toBe('error');
      expectNoSecret(texts);
    });
  },
);

test('the doctor asks every model and repeats no secret', async () => {
  const { temporalAddress } = testServices();
  const env = {
    ...process.env,
    ...variables,
    DATABASE_URL: product.databaseUrl,
    DEER_FLOW_DATABASE_SCHEMA: product.schema,
    TEMPORAL_ADDRESS: temporalAddress,
    DEER_FLOW_HOME: product.home,
    DEER_FLOW_CONFIG_PATH: join(product.home, 'config.yaml'),
  };
  const doctor = (): Promise<string> =>
    new Promise((resolve) => {
      const script = join(findInstallation(), 'dist', 'scripts', 'doctor.js');
      execFile(process.execPath, [script, '--live', '--json'], { env }, (_error, output, errors) =>
        resolve(output + errors),
      );
    });
  server.script(...PLANTED.map((planted) => planted.wire.error(401, 'authentication_error', telling(planted))));
  const refused = await doctor();
  expect(refused.match(/"status": "refused",\s+"text": "model-\d+: .*is not valid/g)).toHaveLength(PLANTED.length);
  server.script(...PLANTED.map(({ wireWithoutTools }) => wireWithoutTools.reply({ text: 'ok' })));
  const answered = await doctor();
  expect(answered).not.toMatch(/"status": "refused",\s+"text": "model-\d+: /);
  expectNoSecret({ refused, answered });
});

test('after all of this no secret is in the database, in a log, in a file of a thread or in an open answer', async () => {
  const { rows: tables } = await product.pool.query<{ name: string }>(
    'select table_name as name from information_schema.tables where table_schema = current_schema()',
  );
  const rows = tables.map(async ({ name }) => {
    const found = await product.pool.query<{ line: string }>(`select to_jsonb(t)::text as line from "${name}" t`);
    return found.rows.map(({ line }) => line).join('\n');
  });
  const entries = await readdir(product.home, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name !== 'config.yaml')
    .map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1'));
  const open = ['/health', '/health/ready', '/api/models', '/openapi.json'];
  expectNoSecret({
    database: (await Promise.all(rows)).join('\n'),
    logs: [...product.workers, ...product.apis].map(({ output }) => output).join('\n'),
    files: `${entries.length} files in the home\n${(await Promise.all(files)).join('\n')}`,
    open: JSON.stringify(await Promise.all(open.map(async (path) => (await api.request('GET', path)).body))),
  });
});

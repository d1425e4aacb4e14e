import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { runWorkflowId } from '../../../contracts';
import { call, fail, hang, say } from '../../support/fake-model';
import { testServices } from '../../support/services';
import { runIdOf, until, useProduct } from './scenario';

const used = useProduct({ config: { log_level: 'debug' } });
const { api, script, start, stream, get } = used;

function newSecret(): string {
  return `s3cret-${randomBytes(9).toString('hex')}`;
}

/** Everything in the database, as text. */
async function storedText(): Promise<string> {
  const { pool } = used.product;
  const { rows: tables } = await pool.query<{ name: string }>(
    'select table_name as name from information_schema.tables where table_schema = current_schema()',
  );
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['runs', 'run_events', 'run_journal', 'run_secrets']),
  );
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await pool.query<{ line: string }>(`select to_jsonb(t)::text as line from "${name}" t`);
      return rows.map(({ line }) => line).join('\n');
    }),
  );
  return texts.join('\n');
}

async function historyText(runId: string): Promise<string> {
  const connection = await Connection.connect({ address: testServices().temporalAddress });
  try {
    const workflow = new Client({ connection }).workflow.getHandle(runWorkflowId(runId));
    // The workflow closes a moment after the run has ended.
    await workflow.result().catch(() => undefined);
    const history = await workflow.fetchHistory();
    expect(history.events?.length).toBeGreaterThan(3);
    // Payloads are bytes: as text they show what they carry.
    return JSON.stringify(history, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
  } finally {
    await connection.close();
  }
}

async function answersText(threadId: string, runId: string): Promise<string> {
  const run = `/api/threads/${threadId}/runs/${runId}`;
  const reads = [`/api/threads/${threadId}`, `/api/threads/${threadId}/state`, `/api/threads/${threadId}/messages`];
  const answers = [...reads, run, `${run}/events`, `${run}/messages`, `/api/threads/${threadId}/runs`].map((path) =>
    get(path),
  );
  const history = await api.request('POST', `/api/threads/${threadId}/history`, {});
  const streamed = await api.stream({ path: `${run}/stream` });
  return JSON.stringify([await Promise.all(answers), history.body, streamed.frames]);
}

function outputs(): string {
  return [...used.product.workers, ...used.product.apis].map(({ output }) => output).join('\n');
}

describe('a secret in the context of a request', () => {
  test.each([
    ['that succeeds', [call('bash', { command: 'env; set' }), say('ok')]],
    ['whose model fails', [fail(500, { message: 'upstream broke' })]],
  ])('is nowhere to be found after a run %s', async (_what, steps) => {
    const [first, second, third] = [newSecret(), newSecret(), newSecret()];
    script(...steps);
    const threadId = await api.newThread();
    const { frames } = await stream(threadId, 'go', {
      stream_mode: ['values', 'messages-tuple', 'updates', 'debug', 'tasks', 'checkpoints', 'custom'],
      context: { secrets: { API_TOKEN: first } },
      config: { context: { secrets: { OTHER: second } }, configurable: { secrets: { THIRD: third } } },
      metadata: { purpose: 'test' },
    });
    const runId = runIdOf(frames);
    await api.ended(threadId, runId);

    const places = {
      stream: JSON.stringify(frames),
      database: await storedText(),
      history: await historyText(runId),
      answers: await answersText(threadId, runId),
      logs: outputs(),
      model: JSON.stringify(used.model.requests.map(({ body, headers }) => ({ body, headers }))),
    };
    for (const [place, text] of Object.entries(places)) {
      expect(text.length).toBeGreaterThan(100);
      for (const secret of [first, second, third]) {
        const forms = [
          secret,
          Buffer.from(secret).toString('base64').slice(0, -4),
          Buffer.from(secret).toString('hex'),
        ];
        expect([place, forms.filter((form) => text.includes(form))]).toEqual([place, []]);
      }
    }
    const { rows } = await used.product.pool.query('select 1 from run_secrets where run_id = $1', [runId]);
    expect(rows).toEqual([]);
  });

  test('is sealed while the run lives, and gone at once when it is cancelled', async () => {
    const secret = newSecret();
    script(hang(60_000));
    const threadId = await api.newThread();
    const { run_id: runId } = await start(threadId, 'go', { context: { secrets: { API_TOKEN: secret } } });
    const sealed = async () =>
      (await used.product.pool.query<{ sealed: Buffer }>('select sealed from run_secrets where run_id = $1', [runId]))
        .rows;
    await used.model.waitForRequests(1);
    expect(await sealed()).toHaveLength(1);
    const text = await storedText();
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`);
    expect(await sealed()).toEqual([]);
  });

  test('of a refused request is neither kept nor repeated in the refusal', async () => {
    const secret = newSecret();
    const threadId = await api.newThread();
    const answer = await api.request('POST', `/api/threads/${threadId}/runs`, {
      input: { messages: [] },
      context: { secrets: { API_TOKEN: secret } },
      surprise: true,
    });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).not.toContain(secret);
    await until(() => outputs().length > 0, 'some output');
    expect(outputs()).not.toContain(secret);
    expect(await storedText()).not.toContain(secret);
  });
});

describe('the keys of the models', () => {
  test('are in no place either, also where the provider repeats them', async () => {
    script(fail(401, { message: 'Incorrect API key provided: test-key.' }));
    const threadId = await api.newThread();
    const { frames } = await stream(threadId, 'go');
    const runId = runIdOf(frames);
    const ended = await api.ended(threadId, runId);
    expect(ended).toMatchObject({ status: 'error', error: { code: 'model_auth' } });
    for (const text of [JSON.stringify(frames), await storedText(), await historyText(runId), outputs()]) {
      expect(text).not.toContain('test-key');
    }
    expect(JSON.stringify(await get('/api/models'))).not.toContain('test-key');
  });
});

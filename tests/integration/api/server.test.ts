import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { runWorkflowId } from '../../../contracts';
import type { Part } from '../../support/product/part';
import { startPart } from '../../support/product/part';
import { openSse } from '../../support/sse-reader';
import { testServices } from '../../support/services';
import { openTestDatabase } from '../../support/test-database';
import type { TestDatabase } from '../../support/test-database';

const SCRIPT = 'dist/api/server.js';
const ROOT = join(__dirname, '..', '..', '..');

let database: TestDatabase;
let home: string;
const parts: Part[] = [];
beforeAll(async () => {
  database = await openTestDatabase();
  home = await mkdtemp(join(tmpdir(), 'deer-flow-server-'));
  await writeFile(join(home, 'config.yaml'), 'log_level: info\n');
});
afterAll(async () => {
  await Promise.all(parts.map((part) => part.stop()));
  await database.close();
  await rm(home, { recursive: true, force: true });
});

function environment(changes: Record<string, string> = {}): Record<string, string> {
  const { databaseUrl, temporalAddress } = testServices();
  return {
    DATABASE_URL: databaseUrl,
    DEER_FLOW_DATABASE_SCHEMA: database.schema,
    TEMPORAL_ADDRESS: temporalAddress,
    DEER_FLOW_TASK_QUEUE: `server-test-${database.schema}`,
    DEER_FLOW_HOME: home,
    DEER_FLOW_CONFIG_PATH: join(home, 'config.yaml'),
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    ...changes,
  };
}

async function start(changes?: Record<string, string>): Promise<Part> {
  const part = await startPart(SCRIPT, environment(changes));
  parts.push(part);
  return part;
}

/** Runs the process until it ends by itself. */
async function outcome(changes: Record<string, string>): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [join(ROOT, SCRIPT)], {
    cwd: home,
    env: { PATH: process.env['PATH'], ...environment(changes) },
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'exit')) as [number];
  return { code, output };
}

async function startRun(url: string, body: object): Promise<{ threadId: string; runId: string }> {
  const threadId = randomUUID();
  const post = (path: string, content: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(content),
    });
  await post('/api/threads', { thread_id: threadId });
  const response = await post(`/api/threads/${threadId}/runs`, { input: { messages: 'hi' }, ...body });
  const { run_id: runId } = (await response.json()) as { run_id: string };
  return { threadId, runId };
}

describe('the API process', () => {
  it('refuses an address that others can reach, in one line', async () => {
    const { code, output } = await outcome({ GATEWAY_HOST: '0.0.0.0' });
    expect(code).toBe(1);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).toContain('GATEWAY_HOST=0.0.0.0');
  });

  it('says which port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const { code, output } = await outcome({ GATEWAY_PORT: String(port) });
    holder.close();
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} on 127.0.0.1 is taken`);
  });

  it('serves the local user without an account, and starts runs on Temporal', async () => {
    const api = await start();
    const { threadId, runId } = await startRun(api.url, {});
    const { rows } = await database.database.pool.query<{ owner: string }>(
      'select owner from runs where run_id = $1 and thread_id = $2',
      [runId, threadId],
    );
    expect(rows).toEqual([{ owner: 'default' }]);
    const connection = await Connection.connect({ address: testServices().temporalAddress });
    const { status } = await new Client({ connection }).workflow.getHandle(runWorkflowId(runId)).describe();
    await connection.close();
    expect(status.name).toBe('RUNNING');
    expect((await fetch(`${api.url}/health/ready`)).status).toBe(200);
  });

  it('ends at once on SIGTERM with a reader attached, cancels nothing, and another takes the reader over', async () => {
    const first = await start();
    const second = await start();
    const { threadId, runId } = await startRun(first.url, { on_disconnect: 'cancel' });
    const path = `/api/threads/${threadId}/runs/${runId}/stream`;
    const reader = await openSse(first.url + path);
    await reader.until((frames) => frames.length === 1);
    const begun = Date.now();
    await first.stop();
    expect(Date.now() - begun).toBeLessThan(10_000);
    await expect(reader.ended()).rejects.toThrow();

    const lastEventId = reader.frames[0]?.id ?? '';
    const again = await openSse(second.url + path, { headers: { 'last-event-id': lastEventId } });
    await database.stores.runs.end(runId, () => ({
      status: 'success',
      error: null,
      stopReason: null,
      rollback: false,
      threadStatus: 'idle',
      commit: { events: [{ kind: 'run-end', payload: {} }] },
    }));
    expect((await again.ended()).map((frame) => frame.event)).toEqual(['end']);
    expect((await database.stores.runs.load(runId))?.cancelAction).toBeNull();
  });

  it('takes a changed configuration without a restart, and keeps the old one when the new one is wrong', async () => {
    const api = await start();
    const names = async () => {
      const { models } = (await (await fetch(`${api.url}/api/models`)).json()) as { models: Array<{ name: string }> };
      return models.map((model) => model.name);
    };
    const becomes = async (expected: string[]) => {
      const deadline = Date.now() + 10_000;
      while (String(await names()) !== String(expected) && Date.now() < deadline) {
        await new Promise((wake) => setTimeout(wake, 100));
      }
      expect(await names()).toEqual(expected);
    };
    expect(await names()).toEqual(['demo']);
    const model = 'models:\n  - {name: fresh, use: "langchain_openai:ChatOpenAI", model: m, api_key: k}\n';
    await writeFile(join(home, 'config.yaml'), model);
    await becomes(['fresh']);
    await writeFile(join(home, 'config.yaml'), 'recursion_limit: 0\n');
    await new Promise((wake) => setTimeout(wake, 1_500));
    await becomes(['fresh']);
    expect(api.output).toContain('the newest valid one stays in force');
  });
});

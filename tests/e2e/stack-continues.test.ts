/** The whole product under `npm start`: what becomes of a run when everything around it goes away. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../contracts';
import { call, say, startFakeModel, type FakeModel } from '../support/fake-model';
import { processesOf, REAL_START, startStackProcess, waitFor, type StackProcess } from '../support/stack/stack-process';

jest.setTimeout(150_000);

let folder: string;
let model: FakeModel;
let stacks: StackProcess[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deer-flow-continues-'));
  stacks = [];
  model = await startFakeModel();
  const config = {
    models: [
      {
        name: 'scripted',
        use: 'langchain_openai:ChatOpenAI',
        model: 'scripted',
        api_key: 'example-key',
        base_url: model.baseUrl,
      },
    ],
    title: { enabled: false },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
});

afterEach(async () => {
  for (const stack of stacks) stack.child.kill('SIGINT');
  await Promise.all(stacks.map((stack) => stack.exited));
  await model.close();
  const rest = processesOf(folder);
  for (const { pid } of rest) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  expect(rest).toEqual([]);
});

function start(): StackProcess {
  const flags = ['--home', join(folder, 'home'), '--config', join(folder, 'config.yaml')];
  const stack = startStackProcess(flags, {}, REAL_START);
  stacks.push(stack);
  return stack;
}

async function post(url: string, body: JsonObject): Promise<JsonObject> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return (await response.json()) as JsonObject;
}

async function get(url: string): Promise<JsonObject> {
  return (await (await fetch(url)).json()) as JsonObject;
}

async function startRun(url: string): Promise<{ threadId: string; runId: string }> {
  const threadId = (await post(`${url}/api/threads`, {})).thread_id as string;
  const input = { messages: [{ role: 'user', content: 'Write it down.' }] };
  const run = await post(`${url}/api/threads/${threadId}/runs`, { assistant_id: 'lead_agent', input });
  return { threadId, runId: run.run_id as string };
}

async function expectAnswer(url: string, ids: { threadId: string; runId: string }, answer: string): Promise<void> {
  const runUrl = `${url}/api/threads/${ids.threadId}/runs/${ids.runId}`;
  // Temporal must first notice that the worker is gone: a heartbeat time-out, and a busy machine.
  const limits = { limitMs: 90_000 };
  const record = await waitFor(
    'the end of the run',
    async () => {
      const current = await get(runUrl);
      return !['pending', 'running'].includes(current.status as string) && current;
    },
    limits,
  );
  expect(record.status).toBe('success');
  const { values } = (await get(`${url}/api/threads/${ids.threadId}/state`)) as { values: { messages: JsonObject[] } };
  expect(values.messages.at(-1)?.content).toBe(answer);
  expect(values.messages.filter(({ type }) => type === 'tool')).toHaveLength(1);
}

const WRITE = call('write_file', {
  description: 'Write it down',
  path: '/mnt/user-data/workspace/note.md',
  content: 'noted',
});
const slow = (text: string) => say(text, { chunks: text.length, delayMs: 100 });

/** Ends the first stack in the middle of the second reply and returns the address of the next one. */
async function interrupted(signal: 'SIGKILL' | 'SIGINT') {
  const first = start();
  const ids = await startRun(await first.ready());
  await model.waitForRequests(2, { key: 'scripted' });
  first.child.kill(signal);
  await first.exited;
  await waitFor('the end of all processes', () => processesOf(folder).length === 0);
  return { ids, url: await start().ready() };
}

test('a run that is at work when everything is killed outright goes on with the next start', async () => {
  model.script('scripted', [WRITE, slow('never to be finished '.repeat(10)), say('All is written down.')]);
  const { url, ids } = await interrupted('SIGKILL');
  await expectAnswer(url, ids, 'All is written down.');
  expect(model.remaining('scripted')).toBe(0);
});

test('Ctrl-C lets a reply that is just coming come to its end, and the model is not asked twice', async () => {
  model.script('scripted', [WRITE, slow('All is written down, one letter at a time.')]);
  const { url, ids } = await interrupted('SIGINT');
  await expectAnswer(url, ids, 'All is written down, one letter at a time.');
  expect(model.unexpected).toEqual([]);
});

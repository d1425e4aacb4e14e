/** README.md's chapter on real models, followed word for word: only addresses and keys are those of a scripted provider. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { findInstallation } from '../../workers/stack/project-root';
import { createChatCompletionsWire } from '../support/providers/chat-completions-wire';
import type { ScriptedServer } from '../support/providers/scripted-server';
import { startScriptedServer } from '../support/providers/scripted-server';
import type { Wire } from '../support/providers/wire';
import { anthropicWire } from '../support/providers/anthropic-wire';
import { ollamaWire } from '../support/providers/ollama-wire';
import { commandsIn, readmeBlocks } from '../support/readme';
import type { FencedBlock } from '../support/readme';
import { freshEnvironment, processesOf, waitFor } from '../support/stack/stack-process';

const WIRES: Record<string, Wire> = {
  'langchain_openai:ChatOpenAI': createChatCompletionsWire(),
  'langchain_anthropic:ChatAnthropic': anthropicWire,
  'langchain_deepseek:ChatDeepSeek': createChatCompletionsWire(),
  'langchain_ollama:ChatOllama': ollamaWire,
};

interface Entry {
  name: string;
  use: string;
  model: string;
  api_key?: string;
}

const blocks = readmeBlocks('A real model');
const block = (language: string, place = 0): FencedBlock => {
  const found = blocks.filter((candidate) => candidate.language === language)[place];
  if (found === undefined) throw new Error(`the chapter has no ${language} block at place ${place}`);
  return found;
};
const configuration = parse(block('yaml').text) as { models: Entry[] };
const { models } = configuration;
const [doctor = '', liveDoctor = ''] = commandsIn(block('sh'));
const [start = '', ...questions] = commandsIn(block('sh', 1));

let server: ScriptedServer;
let folder: string;
const endings: Array<() => Promise<void>> = [];

beforeAll(async () => {
  server = await startScriptedServer();
  folder = mkdtempSync(join(tmpdir(), 'deer-flow-readme-'));
  const root = findInstallation();
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of ['dist', 'node_modules']) symlinkSync(join(root, name), join(folder, name));
  const entries = models.map((entry) => ({ ...entry, base_url: server.url }));
  writeFileSync(join(folder, 'config.yaml'), stringify({ ...configuration, models: entries }));
  writeFileSync(join(folder, '.env'), block('dotenv').text.replaceAll('your-key', 'key-of-the-test'));
});

afterAll(async () => {
  for (const end of endings) await end();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A command in a terminal of its own, which Ctrl-C reaches with all that it started. */
function run(command: string) {
  const names = Object.entries(freshEnvironment()).filter(
    ([name]) => !/^(npm_|DEER_FLOW_HOME$|.*_API_KEY$)/.test(name),
  );
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd: folder,
    env: Object.fromEntries(names),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seen = { output: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (seen.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (seen.errors += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { seen, ended, interrupt: () => process.kill(-(child.pid ?? 0), 'SIGINT') };
}

const wireOf = ({ use }: Entry): Wire => {
  const wire = WIRES[use];
  if (wire === undefined) throw new Error(`the chapter names ${use}: say here what its provider sends`);
  return wire;
};

test('the chapter shows the providers that people ask for first', () => {
  expect(models.map(({ use }) => use)).toEqual(expect.arrayContaining(Object.keys(WIRES)));
});

test('the doctor finds nothing to refuse before anything was started, and asks no model', async () => {
  const { ended, seen } = run(doctor);
  expect([await ended, seen.errors]).toEqual([0, '']);
  for (const { name } of models) expect(seen.output).toContain(`${name} can be built`);
  expect(server.requests).toEqual([]);
});

test('the doctor asks each model with its key, and its report ends as the chapter shows', async () => {
  server.script(...models.map((entry) => wireOf(entry).reply({ text: 'ok' })));
  const { ended, seen } = run(liveDoctor);
  expect([await ended, seen.errors]).toEqual([0, '']);
  const withoutTimes = (text: string): string => text.replaceAll(/\d+ ms/g, 'some ms').trim();
  const shown = withoutTimes(block('text').text);
  expect(withoutTimes(seen.output).slice(-shown.length)).toBe(shown);
  const named = server.requests.map(({ headers }) => headers.authorization ?? headers['x-api-key'] ?? '');
  const keys = models.map(({ api_key: key }) => (key === undefined ? '' : 'key-of-the-test'));
  expect(named.map((value) => String(value).replace('Bearer ', ''))).toEqual(keys);
});

test('a key that the provider refuses is marked as the chapter says, and ends the doctor with 1', async () => {
  const [first, ...rest] = models;
  if (first === undefined) throw new Error('the chapter names no model');
  const refusal = wireOf(first).error(401, 'authentication_error', 'Incorrect API key provided.');
  server.script(refusal, ...rest.map((entry) => wireOf(entry).reply({ text: 'ok' })));
  const { ended, seen } = run(liveDoctor);
  expect(await ended).toBe(1);
  expect(seen.output).toMatch(new RegExp(`REFUSED +${first.name}: .*refused the API key.*Incorrect API key provided`));
});

test('the stack starts, each question is answered by its model, and Ctrl-C ends all of it', async () => {
  server.requests.length = 0;
  const stack = run(start);
  endings.push(async () => {
    for (const { pid } of processesOf(folder)) process.kill(pid, 'SIGKILL');
    await stack.ended;
  });
  const explain = () => stack.seen.output + stack.seen.errors;
  await waitFor('the stack', () => /^Ready: API /m.test(stack.seen.output), { limitMs: 50_000, explain });

  // Besides those of the chapter, one for each further model.
  const asked = (command: string): string => /--model (\S+)/.exec(command)?.[1] ?? models[0]?.name ?? '';
  const template = questions.find((command) => command.includes('--model')) ?? '';
  const others = models.filter(({ name }) => !questions.map(asked).includes(name));
  const commands = [...questions, ...others.map(({ name }) => template.replace(asked(template), name))];
  for (const command of commands) {
    const entry = models.find(({ name }) => name === asked(command));
    if (entry === undefined) throw new Error(`the chapter asks a model that it does not name: ${command}`);
    server.script(wireOf(entry).reply({ text: `Hello from ${entry.name}.` }));
    const { ended, seen } = run(command);
    expect([await ended, seen.output]).toEqual([0, expect.stringContaining(`Hello from ${entry.name}.`)]);
  }
  expect(server.requests).toHaveLength(commands.length);

  stack.interrupt();
  await stack.ended;
  expect(stack.seen.output).toContain('Stopped.');
  expect(processesOf(folder)).toEqual([]);
});

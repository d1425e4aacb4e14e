/** The command `ask` as a person uses it: its process, its outputs, its exit codes. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshEnvironment, processesOf, startStackProcess, waitFor } from '../support/stack/stack-process';
import {
  chunk,
  frame,
  startStandInGateway,
  type StandInGateway,
  type StreamScript,
} from '../support/stack/stand-in-gateway';

let folder: string;
let gateway: StandInGateway | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deer-flow-ask-'));
});

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function ask(args: string[]) {
  const script = join(__dirname, '..', 'support', 'stack', 'ask-with-stand-ins.cjs');
  const env = freshEnvironment();
  const child = spawn(process.execPath, [script, ...args], { cwd: folder, env, stdio: 'pipe' });
  const seen = { answer: '', notes: '' };
  child.stdout.on('data', (data: Buffer) => (seen.answer += data.toString()));
  child.stderr.on('data', (data: Buffer) => (seen.notes += data.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const saw = (pattern: RegExp) =>
    waitFor(`output like ${pattern}`, () => pattern.test(seen.notes + seen.answer), {
      explain: () => seen.notes + seen.answer,
    });
  return { child, seen, exited, saw };
}

async function askGateway(streams: StreamScript[], args: string[] = ['What is new?']) {
  gateway = await startStandInGateway(streams);
  return { gateway, ...ask(['--url', gateway.url, ...args]) };
}

const END = 'event: end\ndata: null\n\n';
const QUESTION = { id: 'm1', type: 'human', content: 'What is new?' };
const CALL = {
  id: 'm2',
  type: 'ai',
  content: 'Let me see.',
  tool_calls: [{ id: 'c1', name: 'ls', args: { path: '/' } }],
};
const FAILED = { id: 'm3', type: 'tool', tool_call_id: 'c1', name: 'ls', status: 'error', content: 'no such folder' };
const REPLY = { id: 'm4', type: 'ai', content: 'All is well.' };

test('the answer alone is on the standard output; calls, failures, files, time and tokens are beside it', async () => {
  const {
    seen,
    exited,
    gateway: api,
  } = await askGateway([
    {
      frames: [
        frame('metadata', { run_id: 'run-1', thread_id: 'thread-1' }),
        frame('values', { messages: [QUESTION], artifacts: ['/mnt/user-data/outputs/old.md'] }),
        ...['Let me', ' see.'].map((text) => chunk('m2', text)),
        frame('values', { messages: [QUESTION, CALL] }),
        frame('values', { messages: [QUESTION, CALL, FAILED] }),
        ...['All is', ' well.'].map((text) => chunk('m4', text)),
        frame('values', {
          messages: [QUESTION, CALL, FAILED, REPLY],
          artifacts: ['/mnt/user-data/outputs/old.md', '/mnt/user-data/outputs/a report.md'],
        }),
        END,
      ],
      then: 'end',
    },
  ]);
  expect(await exited).toBe(0);
  expect(seen.answer).toBe('Let me see.\nAll is well.\n');
  expect(seen.notes).toContain('> ls {"path":"/"}\n');
  expect(seen.notes).toContain('  ls failed: no such folder\n');
  expect(seen.notes).toContain(`${api.url}/api/threads/thread-1/artifacts/mnt/user-data/outputs/a%20report.md`);
  expect(seen.notes).not.toContain('old.md');
  expect(seen.notes).toMatch(/\d+\.\d s · 42 tokens · thread thread-1 \(go on with --thread thread-1\)/);
});

test('an answer that comes without deltas is shown, and earlier answers of the thread are not', async () => {
  const earlier = { id: 'm0', type: 'ai', content: 'An earlier answer.' };
  const streams: StreamScript[] = [
    {
      frames: [
        frame('values', { messages: [earlier, QUESTION] }),
        frame('values', { messages: [earlier, QUESTION, REPLY] }),
        END,
      ],
      then: 'end',
    },
  ];
  const { seen, exited, gateway: api } = await askGateway(streams, ['--thread', 'thread-1', 'What is new?']);
  expect(await exited).toBe(0);
  expect(seen.answer).toBe('All is well.\n');
  expect(api.requests.some(({ path }) => path === '/api/langgraph/threads')).toBe(false);
});

test('a broken connection is taken up after the last frame, and no text is shown twice', async () => {
  const last = chunk('m4', 'All is');
  const {
    seen,
    exited,
    gateway: api,
  } = await askGateway([
    { frames: [frame('values', { messages: [QUESTION] }), last, 'event: messages\ndata: [{"type"'], then: 'cut' },
    { frames: [], then: 'cut' },
    { frames: [chunk('m4', ' well.'), END], then: 'end' },
  ]);
  expect(await exited).toBe(0);
  expect(seen.answer).toBe('All is well.\n');
  const joins = api.requests.filter(({ path }) => path.includes('/runs/run-1/stream'));
  const lastId = /id: (\S+)/.exec(last)?.[1];
  expect(joins.map(({ headers }) => headers['last-event-id'])).toEqual([lastId, lastId]);
  expect(api.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/runs/stream'))).toHaveLength(1);
});

test('where the stream is no longer kept the answer comes from the state of the thread', async () => {
  const {
    seen,
    exited,
    gateway: api,
  } = await askGateway([
    { frames: [frame('values', { messages: [QUESTION] }), frame('gap', { code: 'stream_replay_gap' })], then: 'end' },
  ]);
  api.finish('success');
  expect(await exited).toBe(0);
  expect(seen.answer).toBe('From the state.\n');
});

test('files are uploaded first and named in the question; the model is passed on', async () => {
  const path = join(folder, 'notes.txt');
  writeFileSync(path, 'hello');
  const { exited, seen, gateway: api } = await askGateway([], ['--file', path, '--model', 'example-model', 'Read it.']);
  expect(await exited).toBe(0);
  expect(seen.notes).toContain('+ notes.txt (5 bytes)');
  const upload = api.requests.find((request) => request.path === '/api/threads/thread-1/uploads');
  expect(upload?.body).toMatch(/name="files"; filename="notes.txt"[\s\S]*hello/);
  const start = api.requests.find((request) => request.path.endsWith('/runs/stream'));
  expect(JSON.parse(start?.body ?? '{}')).toMatchObject({
    assistant_id: 'lead_agent',
    context: { model_name: 'example-model' },
    on_disconnect: 'continue',
    stream_mode: ['messages-tuple', 'values', 'custom'],
    input: {
      messages: [
        {
          content: 'Read it.',
          additional_kwargs: { files: [{ filename: 'notes.txt', path: '/mnt/user-data/uploads/notes.txt' }] },
        },
      ],
    },
  });
});

test('a run that fails says why and exits with 1', async () => {
  const { exited, seen, gateway: api } = await askGateway([{ frames: [chunk('m1', 'Sorry.'), END], then: 'end' }]);
  api.finish('error');
  expect(await exited).toBe(1);
  expect(seen.notes).toContain('The run ended as "error": No credit.');
});

describe('Ctrl-C in the middle of an answer', () => {
  const hanging = (): StreamScript[] => [{ frames: [chunk('m1', 'I am at it')], then: 'hang' }];

  test('stops the run where the person says so, and exits with 130', async () => {
    const { child, exited, saw, gateway: api } = await askGateway(hanging());
    await saw(/I am at it/);
    child.kill('SIGINT');
    await saw(/Stop the run \(s\) or leave it running \(l\)\?/);
    child.stdin.write('what?\ns\n');
    expect(await exited).toBe(130);
    expect(api.requests.filter(({ path }) => path.includes('/cancel')).map(({ method }) => method)).toEqual(['POST']);
  });

  test('leaves the run alone where the person says so', async () => {
    const { child, exited, saw, seen, gateway: api } = await askGateway(hanging());
    await saw(/I am at it/);
    child.kill('SIGINT');
    await saw(/Stop the run/);
    child.stdin.write('l\n');
    expect(await exited).toBe(130);
    expect(seen.notes).toContain('Run run-1 is left running. Thread thread-1');
    expect(api.requests.some(({ path }) => path.includes('/cancel'))).toBe(false);
  });

  test('leaves the run alone when pressed again', async () => {
    const { child, exited, saw, gateway: api } = await askGateway(hanging());
    await saw(/I am at it/);
    child.kill('SIGINT');
    await saw(/Stop the run/);
    await new Promise((resolve) => setTimeout(resolve, 400));
    child.kill('SIGINT');
    expect(await exited).toBe(130);
    expect(api.requests.some(({ path }) => path.includes('/cancel'))).toBe(false);
  });
});

test('an address where nothing answers is one line and a failure', async () => {
  const { exited, seen } = ask(['--url', 'http://127.0.0.1:9', 'Hello?']);
  expect(await exited).toBe(1);
  expect(seen).toEqual({ answer: '', notes: 'Nothing answers at http://127.0.0.1:9.\n' });
});

test.each([
  [[], 'A question is missing'],
  [['--file', 'missing.txt', 'Read it.'], 'there is no file missing.txt'],
  [['--url', 'localhost', 'Hello?'], '--url: expected http://host:port'],
  [['--colour', 'Hello?'], '--colour'],
])('wrong usage %j is explained and exits with 2', async (args, words) => {
  const { exited, seen } = ask(args);
  expect(await exited).toBe(2);
  expect(seen.notes).toContain(words);
});

test('--help explains the flags and exits with 0', async () => {
  const { exited, seen } = ask(['--help']);
  expect(await exited).toBe(0);
  for (const flag of ['--url', '--thread', '--model', '--file', '--home', '--config'])
    expect(seen.answer).toContain(flag);
});

test('without an address the stack of the home is asked, and it goes on running', async () => {
  const home = join(folder, 'home');
  const stack = startStackProcess(['--home', home]);
  try {
    await stack.ready();
    const { exited, seen } = ask(['--home', home, 'Hello?']);
    expect(await exited).toBe(0);
    expect(seen.answer).toBe('Hello from the stand-in.\n');
    expect(seen.notes).not.toContain('Starting');
    expect(stack.child.exitCode).toBeNull();
  } finally {
    stack.child.kill('SIGINT');
    await stack.exited;
  }
});

test('where no stack runs, one is started for the question and stopped after it', async () => {
  const home = join(folder, 'home');
  const { exited, seen } = ask(['--home', home, 'Hello?']);
  expect(await exited).toBe(0);
  expect(seen.answer).toBe('Hello from the stand-in.\n');
  expect(seen.notes).toContain('No stack runs on this home');
  expect(processesOf(home)).toEqual([]);
});

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelJournalLine } from '../../faults/checker';
import { collectEffects, collectModelRequests } from '../../faults/checker/collect/journals';
import { collectStrayProcesses } from '../../faults/checker/collect/processes';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'deer-flow-evidence-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const asked = { type: 'asked', at: 10, key: 'key-one', turn: 1, unknownOutcomes: 0 } as const;

test("the model's journal tells which questions were answered in full, also when the model died in mid-line", async () => {
  const file = join(home, 'model.jsonl');
  const lines: ModelJournalLine[] = [
    { ...asked, id: 'q1', attempt: 1 },
    { ...asked, id: 'q2', attempt: 2, at: 20 },
    { type: 'answered', id: 'q2', at: 30, bytes: 200, totalTokens: 7 },
  ];
  writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"type":"answered","id":"q1"`);
  const requests = await collectModelRequests(file);
  expect(requests.map(({ id, answeredAt, totalTokens }) => ({ id, answeredAt, totalTokens }))).toEqual([
    { id: 'q1', answeredAt: null, totalTokens: null },
    { id: 'q2', answeredAt: 30, totalTokens: 7 },
  ]);
  expect(await collectModelRequests(join(home, 'none'))).toEqual([]);
});

test('side effects are counted line by line, and other text in their files is none', async () => {
  const file = join(home, 'effects.txt');
  writeFileSync(file, 'fx-a-1-0 begun\nfx-a-1-0 ended\nfx-a-1-0 ended\nsome words\nfx-a-1-1\n');
  expect((await collectEffects([file, join(home, 'none')])).map(({ token, phase }) => `${token} ${phase}`)).toEqual([
    'fx-a-1-0 begun',
    'fx-a-1-0 ended',
    'fx-a-1-0 ended',
  ]);
});

test("a command in a thread's folder and a forgotten part of the product are strays, known and other processes are not", async () => {
  const workspace = join(home, 'users/default/threads/t/user-data/workspace');
  mkdirSync(workspace, { recursive: true });
  const sleep = (options: { cwd?: string; env?: NodeJS.ProcessEnv }) => spawn('sleep', ['60'], options);
  const started = {
    tool: sleep({ cwd: workspace }),
    part: sleep({ env: { ...process.env, DEER_FLOW_HOME: home } }),
    known: sleep({ env: { ...process.env, DEER_FLOW_HOME: home } }),
    stranger: sleep({ env: { ...process.env, DEER_FLOW_HOME: `${home}-other` } }),
  };
  try {
    const pidOf = (name: keyof typeof started): number => started[name].pid ?? 0;
    const strays = await collectStrayProcesses(home, [pidOf('known')]);
    expect(strays.map(({ pid }) => pid).sort()).toEqual([pidOf('tool'), pidOf('part')].sort());
    expect(strays[0]?.command).toBe('sleep 60');
  } finally {
    for (const child of Object.values(started)) child.kill('SIGKILL');
  }
});

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { lockHome, lockPath, runningStack } from '../../../workers/stack/home-lock';
import { identifyProcess } from '../../../workers/stack/process-identity';
import { createProcessRecords } from '../../../workers/stack/process-records';
import { waitFor } from '../../support/stack/stack-process';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'deer-flow-lock-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const ADDRESSES = { apiUrl: 'http://127.0.0.1:8001', temporalAddress: '127.0.0.1:7233' };

function leave(state: object): void {
  mkdirSync(dirname(lockPath(home)), { recursive: true });
  writeFileSync(lockPath(home), JSON.stringify(state));
}

test('a home is held by one process, and others learn where it answers', async () => {
  const lock = await lockHome(home);
  await expect(lockHome(home)).rejects.toThrow(/already runs on this home.*It is still starting/);
  lock.publish(ADDRESSES);
  await expect(lockHome(home)).rejects.toThrow('It answers at http://127.0.0.1:8001.');
  expect(runningStack(home)?.addresses).toEqual(ADDRESSES);
  lock.release();
  expect(runningStack(home)).toBeUndefined();
  (await lockHome(home)).release();
  expect(readdirSync(dirname(lockPath(home)))).toEqual([]);
});

test('the lock of a dead process counts for nothing, also where its process id was given to another', async () => {
  leave({ ...identifyProcess(process.ppid), started: 'an earlier boot', addresses: ADDRESSES });
  expect(runningStack(home)).toBeUndefined();
  const lock = await lockHome(home);
  await expect(lockHome(home)).rejects.toThrow('already runs');
  lock.release();
});

test('of many that find a dead lock at once, one gets the home', async () => {
  leave({ pid: 1, started: 'never' });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockHome(home)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a recorded process is ended by the next start, and a stranger with its process id is not', async () => {
  const records = createProcessRecords(join(home, 'processes'));
  const leftover = spawn('sleep', ['60']);
  const stranger = spawn('sleep', ['60']);
  try {
    records.add({ name: 'leftover', pid: leftover.pid ?? 0, stopSignal: 'SIGTERM' });
    const other = { name: 'reused', pid: stranger.pid, started: 'an earlier boot', stopSignal: 'SIGTERM' };
    writeFileSync(join(home, 'processes', 'reused.json'), JSON.stringify(other));
    writeFileSync(join(home, 'processes', 'broken.json'), '{"pid":');
    expect(await records.endLeftovers({ graceMs: 2_000 })).toEqual(['leftover']);
    await waitFor('the end of the leftover', () => leftover.signalCode === 'SIGTERM');
    expect(stranger.signalCode).toBeNull();
    expect(readdirSync(join(home, 'processes'))).toEqual([]);
  } finally {
    leftover.kill('SIGKILL');
    stranger.kill('SIGKILL');
  }
});

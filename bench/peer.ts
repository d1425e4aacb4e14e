/** Starts a peer and speaks its protocol. */
import { spawn } from 'node:child_process';
import { mkdirSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findInstallation } from '../workers/stack/project-root';
import { PEERS } from './peer-catalog';
import type { PeerDescription, PeerName } from './peer-catalog';
import type { PeerAnswer, PeerSetup, RunArguments, RunResult } from './peer-protocol';
import type { Referee } from './referee';
import type { Servers } from './servers';

export interface PeerOptions {
  name: PeerName;
  servers: Servers;
  referee: Referee;
  /** A folder of its own. */
  folder: string;
}

export interface Peer {
  readonly name: PeerName;
  readonly pid: number;
  /** One run of the agent. */
  run(run: RunArguments): Promise<RunResult>;
  /** Commands that only this peer has. */
  request(command: string, args?: unknown): Promise<unknown>;
  /** SIGKILL, and wait until it is gone. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;

export async function startPeer({ name, servers, referee, folder }: PeerOptions): Promise<Peer> {
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const setup: PeerSetup = {
    databaseUrl: await servers.createDatabase(name.replaceAll('-', '_')),
    temporalAddress: servers.temporalAddress,
    baseUrl: referee.baseUrl,
    folder: workspace,
    ...(await referee.productRequest()),
  };
  const description: PeerDescription = PEERS[name];
  const program = join(findInstallation(), 'bench', 'build', 'peers', description.program, 'index.js');
  if (!existsSync(program)) throw new Error(`The peer "${name}" is not built: ${program} is missing.`);
  return followPeer(name, [program, JSON.stringify(setup), ...(description.arguments ?? [])], folder);
}

async function followPeer(name: PeerName, args: readonly string[], folder: string): Promise<Peer> {
  const child = spawn(process.execPath, ['--enable-source-maps', ...args], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-8_000)));
  child.stdin.on('error', () => undefined);
  let announceReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => (announceReady = resolve));
  createInterface(child.stdout).on('line', (line) => {
    const answer = parseAnswer(line);
    if (answer === null) complaints = `${complaints}${line}\n`.slice(-8_000);
    else if ('ready' in answer) announceReady();
    else {
      const request = waiting.get(answer.number);
      waiting.delete(answer.number);
      if ('error' in answer) request?.reject(new Error(`The peer "${name}" failed: ${answer.error}`));
      else request?.resolve(answer.result);
    }
  });
  const gone = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => {
      const error = new Error(`The peer "${name}" ended (${signal ?? code}). Its last words:\n${complaints}`);
      for (const request of waiting.values()) request.reject(error);
      waiting.clear();
      reject(error);
    });
  });
  gone.catch(() => undefined);
  const exited = gone.catch(() => undefined);
  let count = 0;
  const request = async (command: string, commandArguments: unknown = {}): Promise<unknown> => {
    count += 1;
    const number = count;
    const answered = new Promise<unknown>((resolve, reject) => waiting.set(number, { resolve, reject }));
    child.stdin.write(`${JSON.stringify({ number, command, arguments: commandArguments })}\n`);
    return Promise.race([answered, gone]);
  };
  const close = async (): Promise<void> => {
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await exited;
    clearTimeout(timer);
  };
  const peer: Peer = {
    name,
    pid: child.pid ?? 0,
    run: async (run) => (await request('run', run)) as RunResult,
    request,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    close,
  };
  await whenReady(name, ready, gone, () => complaints).catch(async (error: unknown) => {
    await peer.kill();
    throw error;
  });
  return peer;
}

async function whenReady(
  name: string,
  ready: Promise<void>,
  gone: Promise<never>,
  complaints: () => string,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`The peer "${name}" was not ready in time. Its last words:\n${complaints()}`));
    timer = setTimeout(fail, START_LIMIT_MS);
  });
  try {
    await Promise.race([ready, gone, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Null for a line that libraries print. */
function parseAnswer(line: string): PeerAnswer | null {
  try {
    const value: unknown = JSON.parse(line);
    const isAnswer = typeof value === 'object' && value !== null && ('ready' in value || 'number' in value);
    return isAnswer ? (value as PeerAnswer) : null;
  } catch {
    return null;
  }
}

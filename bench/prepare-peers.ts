/** Installs the peers where the lock file asks for other ones than are there, and compiles their programs. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface PreparePeersOptions {
  root: string;
  signal: AbortSignal;
  log: (line: string) => void;
}

export async function preparePeers({ root, signal, log }: PreparePeersOptions): Promise<void> {
  const folder = join(root, 'bench');
  const stamp = join(folder, 'node_modules', '.installed-lock');
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
    log('installing the peers from bench/package-lock.json...');
    await toEnd('npm', ['ci', '--prefix', folder], folder, signal);
    writeFileSync(stamp, lock);
  }
  log('compiling the peers...');
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await toEnd(process.execPath, [compiler, '-p', join(folder, 'peers', 'tsconfig.json')], root, signal);
}

/** What the command prints is shown: it is the only explanation of a failure. */
function toEnd(command: string, args: readonly string[], cwd: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, signal, stdio: ['ignore', process.stderr, process.stderr] });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`"${command} ${args.join(' ')}" ended with code ${code}.`)),
    );
  });
}

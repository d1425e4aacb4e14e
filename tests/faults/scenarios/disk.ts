/** The disk of PostgreSQL is full: a small file system of its own, filled and emptied again. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { trickle } from './load';
import type { Scenario } from './scenario';

const SIZE_MB = 256;
const FULL_MS = 12_000;
const FILLER = 'filler';
const NO_ROOM = 'No space left on device';
const PIECE_BYTES = 64 * 1024;

function mountSmallDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'deer-flow-small-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tmpfs', folder], { timeout: 10_000 });
  chmodSync(folder, 0o755);
  return folder;
}

function unmount(folder: string): void {
  execFileSync('umount', [folder], { timeout: 10_000 });
  rmSync(folder, { recursive: true, force: true });
}

function canMount(): boolean {
  try {
    unmount(mountSmallDisk());
    return true;
  } catch {
    return false;
  }
}

/** Leaves no byte free. */
function fill(folder: string): void {
  for (;;) {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail === 0) return;
    try {
      writeFileSync(join(folder, FILLER), Buffer.alloc(Math.max(bsize, Math.min(bavail * bsize, 16 * PIECE_BYTES))), {
        flag: 'a',
      });
    } catch {
      return;
    }
  }
}

export const diskFull: Scenario = {
  name: 'postgres: its disk full',
  title: 'the disk of PostgreSQL is full for a while, with or without its crash: every run goes on when there is room',
  long: true,
  unavailable: () => (canMount() ? null : 'mounting a small file system (tmpfs) needs root'),
  async ownCluster(cleanUp) {
    const folder = mountSmallDisk();
    cleanUp(async () => unmount(folder));
    // Small files of the write-ahead log, so that it needs a new one while the disk is full.
    const postgresSettings = { max_wal_size: '64MB', min_wal_size: '32MB' };
    return { postgresDirectory: join(folder, 'postgres'), postgresSettings };
  },
  async run(context) {
    const { postgres, postgresDirectory, directory } = context.cluster.servers;
    const disk = dirname(postgresDirectory);
    await trickle(context, async () => {
      await delay(3_000);
      fill(disk);
      await delay(FULL_MS);
      rmSync(join(disk, FILLER));
      const crashed = postgres.pid === 0;
      const complaints = (await readFile(join(directory, 'postgres.log'), 'utf8')).split(NO_ROOM).length - 1;
      if (complaints === 0) throw new Error('the disk was never full');
      context.note(`PostgreSQL complained ${complaints} times that there is no room`);
      context.note(crashed ? 'PostgreSQL had crashed, and is started again' : 'PostgreSQL went on without room');
      await postgres.start();
    });
  },
};

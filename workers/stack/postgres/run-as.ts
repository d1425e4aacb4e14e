/**
 * PostgreSQL refuses to run as root. As root it runs under an unprivileged user id, and where that user may not walk
 * into the folders of the binaries or of the data (a home below a private directory), it keeps the one capability that
 * allows the walk. As any other user it simply runs.
 */
import { chownSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../../../contracts';
import { findOnPath } from '../executables';

interface Owner {
  uid: number;
  gid: number;
}

export interface RunAs {
  /** The command to spawn and the ids to spawn it with. */
  wrap(command: string, args: readonly string[]): { command: string; args: string[]; uid?: number; gid?: number };
  /** Hands a folder or file to the user that the server runs as. */
  giveAway(path: string): void;
}

export interface RunAsOptions {
  /** Decides the user where somebody other than root owns it. */
  dataDirectory: string;
  /** Every folder that the server must be able to enter. */
  mustEnter: readonly string[];
}

export function chooseRunAs(options: RunAsOptions): RunAs {
  if (process.getuid?.() !== 0) {
    return { wrap: (command, args) => ({ command, args: [...args] }), giveAway: () => undefined };
  }
  const owner = ownerOf(options.dataDirectory);
  const closed = options.mustEnter.find((path) => !canEnter(path, owner));
  const prefix = closed === undefined ? undefined : keepWalking(owner, closed);
  return {
    wrap: (command, args) =>
      prefix
        ? { command: prefix.command, args: [...prefix.args, command, ...args] }
        : { command, args: [...args], ...owner },
    giveAway: (path) => chownSync(path, owner.uid, owner.gid),
  };
}

/** The user of existing data, else nobody. */
function ownerOf(dataDirectory: string): Owner {
  const stats = statSync(dataDirectory, { throwIfNoEntry: false });
  return stats === undefined || stats.uid === 0 ? nobody() : { uid: stats.uid, gid: stats.gid };
}

/** The user that owns nothing. PostgreSQL runs only as a user that the system knows by name. */
function nobody(): Owner {
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readIfThere('/etc/passwd'));
  return { uid: Number(entry?.[1] ?? 65_534), gid: Number(entry?.[2] ?? 65_534) };
}

/** Whether the mode bits let the user walk down to a folder. */
function canEnter(path: string, owner: Owner): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    const stats = statSync(folder, { throwIfNoEntry: false });
    // What is missing will be made for that user.
    if (stats !== undefined) {
      const bit = stats.uid === owner.uid ? 0o100 : stats.gid === owner.gid ? 0o010 : 0o001;
      if ((stats.mode & bit) === 0) return false;
    }
    if (folder === dirname(folder)) return true;
  }
}

function keepWalking(owner: Owner, closed: string): { command: string; args: string[] } {
  const setpriv = findOnPath('setpriv', process.env.PATH);
  const capability = walkingCapability();
  if (!setpriv || !capability) {
    throw new AppError(
      'unavailable',
      `PostgreSQL does not run as root, and the user id ${owner.uid} that it would run as may not enter ${closed}. ` +
        'Make that folder and those above it passable (chmod o+x), choose another --home, run as another user, ' +
        'install setpriv (util-linux), or name a server in DATABASE_URL.',
    );
  }
  const ids = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  return { command: setpriv, args: [...ids, `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`] };
}

const CAPABILITY_BITS = { dac_read_search: 2n, dac_override: 1n } as const;

/** The lesser of the two capabilities that open a closed folder, of those that we hold: containers often lack it. */
function walkingCapability(): keyof typeof CAPABILITY_BITS | undefined {
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(readIfThere('/proc/self/status'))?.[1];
  const held = BigInt(`0x${effective ?? '0'}`);
  return (['dac_read_search', 'dac_override'] as const).find((name) => (held >> CAPABILITY_BITS[name]) & 1n);
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

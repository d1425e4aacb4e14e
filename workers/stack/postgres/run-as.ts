/**
 * PostgreSQL refuses to run as root. As root it runs under an unprivileged user id, and where that user may not walk
 * into the folders of the binaries or of the data (a home below a private directory), it keeps the one capability that
 * allows the walk. As any other user it simply runs.
 */
import { chownSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../../../contracts';
import { findOnPath } from '../executables';

/** The user that owns nothing, on every system that has one. */
const NOBODY = 65534;

export interface RunAs {
  /** Undefined: as we are. */
  owner?: { uid: number; gid: number };
  /** The command to spawn and the ids to spawn it with. */
  wrap(command: string, args: readonly string[]): { command: string; args: string[]; uid?: number; gid?: number };
  /** Hands a folder or file to that user. */
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
    owner,
    wrap: (command, args) =>
      prefix
        ? { command: prefix.command, args: [...prefix.args, command, ...args] }
        : { command, args: [...args], ...owner },
    giveAway: (path) => chownSync(path, owner.uid, owner.gid),
  };
}

/** The user of existing data, else of the folder that will hold it, else nobody. */
function ownerOf(path: string): { uid: number; gid: number } {
  for (let candidate = path; ; candidate = dirname(candidate)) {
    try {
      const { uid, gid } = statSync(candidate);
      return uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid, gid };
    } catch {
      if (candidate === dirname(candidate)) return { uid: NOBODY, gid: NOBODY };
    }
  }
}

/** Whether the mode bits let the user walk down to a folder. */
function canEnter(path: string, owner: { uid: number; gid: number }): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      const { uid, gid, mode } = statSync(folder);
      const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
      if ((mode & bit) === 0) return false;
    } catch {
      // Not made yet: it will belong to the user.
    }
    if (folder === dirname(folder)) return true;
  }
}

function keepWalking(owner: { uid: number; gid: number }, closed: string) {
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
  try {
    const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    const held = BigInt(`0x${effective ?? '0'}`);
    return (['dac_read_search', 'dac_override'] as const).find((name) => (held >> CAPABILITY_BITS[name]) & 1n);
  } catch {
    return undefined;
  }
}

/** The folder of the instances. A marker says that it is ours: no other folder is ever written to or emptied. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../contracts';
import { writeFileAtomically } from '../../workers/stack/atomic-file';
import { runningStack } from '../../workers/stack/home-lock';
import { INSTANCES, type InstanceName } from './settings';

/** How the commands reach what runs. Holds a secret: the file is for its owner alone. */
export interface RunningInstances {
  urls: Readonly<Record<InstanceName | 'front', string>>;
  control: { url: string; token: string };
  temporalUiUrl: string;
}

const MARKER = '.multi-instance';
const RUNNING = 'instances.json';
/** Stays when everything else goes. */
const LOGS = 'logs';
/** Goes last: it holds the lock. */
const LOCK = 'stack';

/** Makes the folder ours. Throws where it holds something that is not. */
export function claimFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  if (!isOurs(folder) && readdirSync(folder).some((name) => name !== LOGS)) {
    throw new AppError(
      'conflict',
      `${folder} is not empty and was not made by this command. Name another folder in DEERFLOW_MI_STATE_DIR.`,
    );
  }
  writeFileSync(join(folder, MARKER), '');
}

function isOurs(folder: string): boolean {
  return existsSync(join(folder, MARKER));
}

/** Empties the folder but for its logs. Its lock must be held, and is given up by `release`. */
export function emptyFolder(folder: string, release: () => void): void {
  if (!isOurs(folder)) return release();
  const remove = (...path: string[]) => rmSync(join(folder, ...path), { recursive: true, force: true });
  const names = readdirSync(folder);
  names.filter((name) => ![LOGS, LOCK, MARKER].includes(name)).forEach((name) => remove(name));
  remove(LOCK, 'processes');
  remove(MARKER);
  release();
  try {
    rmdirSync(join(folder, LOCK));
  } catch {
    // Somebody else holds the lock by now.
  }
}

export function publishRunning(folder: string, running: RunningInstances): void {
  writeFileAtomically(join(folder, RUNNING), `${JSON.stringify(running, null, 2)}\n`);
}

/** What runs on the folder. Throws where nothing does. */
export function requireRunning(folder: string): RunningInstances {
  const path = join(folder, RUNNING);
  if (runningStack(folder)?.addresses !== undefined && existsSync(path)) {
    return JSON.parse(readFileSync(path, 'utf8')) as RunningInstances;
  }
  throw new AppError('conflict', 'No instances run. Start them with "npm run instances -- up".');
}

/** The log of each process by the name that people use. */
export function logNames(folder: string): string[] {
  const directory = join(folder, LOGS);
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith('.log'));
  const first: readonly string[] = INSTANCES.map((name) => `${name}.log`);
  return [...names.filter((name) => first.includes(name)), ...names.filter((name) => !first.includes(name))].map(
    (name) => name.slice(0, -'.log'.length),
  );
}

/** Readable by its owner alone, from its first byte on. */
export function writePrivately(path: string, text: string): void {
  writeFileAtomically(path, text, 0o600);
  chmodSync(path, 0o600);
}

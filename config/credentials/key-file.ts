import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fernetKey, generateFernetKey } from './fernet';
import type { FernetKey } from './fernet';
import { malformed } from './keys';

/** The name that DeerFlow and its deployment scripts use too: whoever makes the file first wins. */
const FILE_NAME = '.credentials_key';

/** Null while there is no file. Throws where what is in it is no key: a new one would make stored values unreadable. */
export async function readKeyFile(home: string): Promise<FernetKey | null> {
  const text = await readFile(join(home, FILE_NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const key = fernetKey(text.trim());
  if (key === null) throw malformed(FILE_NAME);
  return key;
}

/** The key of the file, which is made where there is none. Processes that share the home end up with one key. */
export async function keyFileMadeIfMissing(home: string): Promise<FernetKey> {
  const known = await readKeyFile(home);
  if (known !== null) return known;
  await mkdir(home, { recursive: true });
  const path = join(home, FILE_NAME);
  const candidate = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(candidate, generateFernetKey(), { mode: 0o600, flag: 'wx' });
  try {
    // A link appears whole or not at all, and never replaces the key of somebody who was quicker.
    await link(candidate, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(candidate, { force: true });
  }
  const key = await readKeyFile(home);
  if (key === null) throw malformed(FILE_NAME);
  return key;
}

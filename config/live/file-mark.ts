import { statSync } from 'node:fs';

/** Clocks of file systems are coarse: two writes within this time may leave the same times behind. */
const UNSETTLED_MS = 100;

/**
 * What tells cheaply that a file may have changed: another path, another file behind the path, another time or size.
 * Null where that cannot be told, so that its bytes have to be read.
 */
export function fileMark(locate: () => string | null, now: number): string | null {
  try {
    const path = locate();
    if (path === null) return 'no file';
    const found = statSync(path, { bigint: true });
    const age = now - Number(found.mtimeNs / 1_000_000n);
    if (Math.abs(age) < UNSETTLED_MS) return null;
    return [path, found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join('\0');
  } catch {
    return 'unreadable';
  }
}

import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** A reader sees the old content or the new, never a part. */
export function writeFileAtomically(path: string, content: string, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content, { mode });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** How long MindIE may take, in milliseconds. Whole replies of large models come after many minutes of silence. */
import type { ModelConfig } from '../../contracts/schemas/config';

export interface MindIeTimeouts {
  connectMs: number;
  /** Silence while the answer is waited for or read. */
  readMs: number;
  writeMs: number;
}

/** Keys of an entry that only this adapter knows. */
export const TIMEOUT_KEYS = ['connect_timeout', 'read_timeout', 'write_timeout', 'pool_timeout'];

/** Seconds. */
const USUAL = { connect: 30, read: 900, write: 60 };

/** One time-out for everything, where the entry has one; else one for each part. */
export function mindIeTimeouts(entry: ModelConfig): MindIeTimeouts {
  const all = entry.request_timeout ?? entry.timeout ?? entry['default_request_timeout'];
  const milliseconds = (own: unknown, usual: number): number =>
    Math.ceil((seconds(all) ?? seconds(own) ?? usual) * 1000);
  return {
    connectMs: milliseconds(entry['connect_timeout'], USUAL.connect),
    readMs: milliseconds(entry['read_timeout'], USUAL.read),
    writeMs: milliseconds(entry['write_timeout'], USUAL.write),
  };
}

function seconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;
}

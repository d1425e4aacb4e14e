/** The names that uploaded files get. */
import { posix } from 'node:path';

/** Longest name that file systems take, in bytes. */
const LONGEST_NAME = 255;

/** What follows the last dot of a longer name is no extension that would have to stay at the end. */
const LONGEST_EXTENSION = 64;

const STAGING = /^\.upload-.*\.part$/;

/** Control characters have no place in a name that ends up in prompts, headers and lists. */
const CONTROL = new RegExp('[\\u0000-\\u001f\\u007f]');

export function stagingName(id: string): string {
  return `.upload-${id}.part`;
}

/** Whether the name is that of an upload under way: never listed, served under a name of its own, or accepted. */
export function isStagingName(name: string): boolean {
  return STAGING.test(name);
}

/** The base name of what the client calls the file, or null where no safe name is left. */
export function safeUploadName(raw: string | undefined): string | null {
  if (raw === undefined || raw.includes('\\') || CONTROL.test(raw)) return null;
  const name = raw.slice(raw.lastIndexOf('/') + 1);
  if (name === '' || name === '.' || name === '..' || isStagingName(name)) return null;
  return Buffer.byteLength(name) > LONGEST_NAME ? null : name;
}

/** `report.pdf`, 2 becomes `report_2.pdf`; the stem is cut where the name would become too long. */
export function numberedName(name: string, number: number): string {
  if (number === 0) return name;
  const written = posix.extname(name);
  const extension = Buffer.byteLength(written) > LONGEST_EXTENSION ? '' : written;
  let stem = name.slice(0, name.length - extension.length);
  const ending = `_${number}${extension}`;
  while (Buffer.byteLength(stem) + Buffer.byteLength(ending) > LONGEST_NAME && stem !== '') {
    stem = [...stem].slice(0, -1).join('');
  }
  return stem + ending;
}

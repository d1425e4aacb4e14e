import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { OpenFile } from './open-inside';
import { SNIFFED_BYTES } from './media-type';

/** Bytes that can be served in part. Whoever has it must close it. */
export interface Content {
  size: number;
  /** With its quotes. For content up to `HASHED_BYTES` it is the SHA-256 that an edit has to name. */
  etag: string;
  modified: Date | null;
  /** The first bytes, enough to tell text from other content. */
  start: Buffer;
  /** Bytes `first` to `last`, both included. Throws where the file has become shorter in the meantime. */
  read(first: number, last: number): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** Up to here a file is read at once and its entity tag is its SHA-256. The same as the limit for editing. */
export const HASHED_BYTES = 2_097_152;

const CHUNK_BYTES = 65_536;

export function bufferContent(bytes: Buffer, modified: Date | null): Content {
  return {
    size: bytes.length,
    etag: `"${createHash('sha256').update(bytes).digest('hex')}"`,
    modified,
    start: bytes.subarray(0, SNIFFED_BYTES),
    async *read(first, last) {
      yield bytes.subarray(first, last + 1);
    },
    close: async () => undefined,
  };
}

/**
 * A small file is taken as it is now, so that tag and bytes fit together; a large one is read as it is sent. The handle
 * belongs to the content from here on.
 */
export async function fileContent(file: OpenFile): Promise<Content> {
  try {
    if (Number(file.stats.size) > HASHED_BYTES) return await largeContent(file);
    const content = bufferContent(await readAtMost(file, HASHED_BYTES), modifiedAt(file));
    await file.handle.close();
    return content;
  } catch (error) {
    await file.handle.close();
    throw error;
  }
}

async function largeContent(file: OpenFile): Promise<Content> {
  const size = Number(file.stats.size);
  const start = Buffer.alloc(SNIFFED_BYTES);
  const { bytesRead } = await file.handle.read(start, 0, SNIFFED_BYTES, 0);
  return {
    size,
    etag: `"${file.stats.mtimeNs.toString(16)}-${size.toString(16)}"`,
    modified: modifiedAt(file),
    start: start.subarray(0, bytesRead),
    read: (first, last) => readRange(file.handle, first, last),
    close: () => file.handle.close(),
  };
}

function modifiedAt({ stats }: OpenFile): Date {
  return new Date(Number(stats.mtimeMs));
}

async function readAtMost(file: OpenFile, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  while (size <= limit) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, limit + 1 - size));
    const { bytesRead } = await file.handle.read(chunk, 0, chunk.length, size);
    if (bytesRead === 0) break;
    chunks.push(chunk.subarray(0, bytesRead));
    size += bytesRead;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}

/** Bytes `first` to `last` of a file, both included. */
export async function* readRange(handle: FileHandle, first: number, last: number): AsyncIterable<Buffer> {
  for (let position = first; position <= last;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, last + 1 - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) throw new Error('The file became shorter while it was sent');
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { fromRandomAccessReader, RandomAccessReader } from 'yauzl';
import { AppError } from '../../contracts';
import { readRange } from './content';
import type { OpenFile } from './open-inside';

/** Largest member that is unpacked, in bytes. */
const MAX_MEMBER_BYTES = 16_777_216;

/** An archive with more entries than this is no skill. */
const MAX_ENTRIES = 10_000;

interface MemberRequest {
  member: string;
  /** The whole path, for error texts. */
  shown: string;
  signal: AbortSignal;
}

/**
 * Reads one file out of a `.skill` archive. Archives often hold everything in one folder of the skill's name: where the
 * path does not exist as it is, it is tried below that folder. The archive's file is closed in any case.
 */
export async function readArchiveMember(file: OpenFile, request: MemberRequest): Promise<Buffer> {
  try {
    const zip = await openArchive(file);
    const entry = await findEntry(zip, request);
    if (entry === null) throw new AppError('not_found', `Artifact not found: ${request.shown}`);
    if (entry.uncompressedSize > MAX_MEMBER_BYTES) throw tooLarge(request.shown);
    return await unpack(zip, entry, request);
  } catch (error) {
    if (error instanceof AppError || request.signal.aborted) throw error;
    throw new AppError('bad_request', 'The archive cannot be read', { cause: error });
  } finally {
    await file.handle.close();
  }
}

/** Reads through the handle that was checked; closing that one waits for reads under way. */
class HandleReader extends RandomAccessReader {
  constructor(private readonly handle: FileHandle) {
    super();
  }

  /** @param end the first byte that is not wanted */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(readRange(this.handle, start, end - 1), { objectMode: false });
  }

  override close(done: (error: Error | null) => void): void {
    done(null);
  }
}

function openArchive(file: OpenFile): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false };
    fromRandomAccessReader(new HandleReader(file.handle), Number(file.stats.size), options, (error, zip) => {
      if (error) return reject(error);
      // An error that comes late, when nobody waits any more, must not end the process.
      zip.on('error', () => undefined);
      resolve(zip);
    });
  });
}

/** Entries are read one by one until the exact path is found, or all of them to know the single top folder. */
async function findEntry(zip: ZipFile, { member, signal }: MemberRequest): Promise<Entry | null> {
  const tops = new Set<string>();
  let nested: Entry | null = null;
  for (let count = 0; ; count += 1) {
    signal.throwIfAborted();
    const entry = await nextEntry(zip);
    if (entry === null) break;
    if (count >= MAX_ENTRIES) throw new AppError('too_large', 'The archive has too many entries');
    if (entry.fileName === member) return entry;
    const [top = '', ...rest] = entry.fileName.split('/');
    tops.add(top);
    if (rest.join('/') === member) nested = entry;
  }
  return tops.size === 1 ? nested : null;
}

function nextEntry(zip: ZipFile): Promise<Entry | null> {
  return new Promise((resolve, reject) => {
    const forget = (): void => {
      zip.off('entry', onEntry).off('end', onEnd).off('error', onError);
    };
    const onEntry = (entry: Entry): void => (forget(), resolve(entry));
    const onEnd = (): void => (forget(), resolve(null));
    const onError = (error: Error): void => (forget(), reject(error));
    zip.on('entry', onEntry).on('end', onEnd).on('error', onError);
    zip.readEntry();
  });
}

async function unpack(zip: ZipFile, entry: Entry, { shown, signal }: MemberRequest): Promise<Buffer> {
  const stream = await new Promise<Readable>((resolve, reject) =>
    zip.openReadStream(entry, (error, content) => (error ? reject(error) : resolve(content))),
  );
  const stop = (): void => void stream.destroy(new Error('The client closed the connection'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      // What the archive says of its sizes need not be true.
      if (size > MAX_MEMBER_BYTES) throw tooLarge(shown);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function tooLarge(shown: string): AppError {
  return new AppError('too_large', `Archive member is too large: ${shown}`);
}

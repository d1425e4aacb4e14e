import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { AppError } from '../../contracts';
import { fault } from '../http/validation';
import { safeUploadName, stagingName } from './upload-names';

export interface UploadLimits {
  maxFiles: number;
  /** Bytes. */
  maxFileSize: number;
  /** Bytes. */
  maxTotalSize: number;
}

/** A part of the request that lies complete on disk, under a name that nobody sees yet. */
export interface StagedUpload {
  name: string;
  staging: string;
  size: number;
}

interface ReceiveOptions {
  /** Where files are staged: the directory that they are published in, so that publishing copies nothing. */
  directory: string;
  limits: UploadLimits;
  signal: AbortSignal;
}

const FIELD = 'files';

/** Parts that are not ours are read over; more of them than this is no form of a client that we know. */
const MAX_PARTS = 1000;
const MAX_FIELD_BYTES = 65_536;

/** What a multipart request may be longer than its files: headers of parts and other fields. */
const ENVELOPE_BYTES = 4_194_304;

/** How long the rest of a refused request is read and dropped before the answer ends the connection. */
const PASS_BY_MS = 2_000;

/**
 * Reads what is still on its way and drops it: a connection that is closed in the face of a client that still sends is
 * reset, and takes the answer with it.
 */
async function passBy(request: IncomingMessage): Promise<void> {
  request.resume();
  if (request.readableEnded || request.destroyed) return;
  const stop = AbortSignal.timeout(PASS_BY_MS);
  await Promise.race([once(request, 'end', { signal: stop }), once(request, 'close', { signal: stop })]).catch(
    () => undefined,
  );
}

/**
 * Reads a multipart request part by part into staging files, whatever its length never holding more than a chunk.
 * Where a limit is passed, the request is malformed or the client goes away, everything staged is removed.
 */
export async function receiveUploads(request: IncomingMessage, options: ReceiveOptions): Promise<StagedUpload[]> {
  const parser = createParser(request, options.limits);
  const written: string[] = [];
  const parts: Promise<StagedUpload | null>[] = [];
  const state = { files: 0, bytes: 0, seen: false };

  try {
    await new Promise<void>((resolve, reject) => {
      const stop = (error: Error): void => {
        reject(error);
        parser.destroy();
      };
      const tooLong = countEnvelope(request, options.limits, stop);
      parser.on('file', (field, content, { filename }) => {
        // An unread error of a stream that was stopped with the parser must not end the process.
        content.on('error', () => undefined);
        if (field !== FIELD) return void content.resume();
        state.seen = true;
        state.files += 1;
        if (state.files > options.limits.maxFiles) {
          return stop(new AppError('too_large', `Too many files: maximum is ${options.limits.maxFiles}`));
        }
        const part = receivePart(content, filename, { ...options, state, written });
        parts.push(part);
        part.catch(stop);
      });
      parser.on('field', (field, value) => {
        if (field !== FIELD) return;
        // A form without a chosen file sends an empty part of this name; a text is a mistake of the client.
        if (value !== '') return stop(notAnUpload(value));
        state.seen = true;
      });
      parser.on('partsLimit', () => stop(new AppError('too_large', `Too many parts: maximum is ${MAX_PARTS}`)));
      parser.on('error', (error: unknown) => stop(malformed(error)));
      parser.on('close', () => resolve());
      options.signal.addEventListener('abort', () => stop(malformed(options.signal.reason)), { once: true });
      if (options.signal.aborted) stop(malformed(options.signal.reason));
      request.on('error', stop);
      request.on('data', tooLong);
      request.pipe(parser);
    });
    if (!state.seen) throw missingFiles();
    return (await Promise.all(parts)).filter((part) => part !== null);
  } catch (error) {
    request.unpipe(parser);
    const passed = passBy(request);
    await Promise.allSettled(parts);
    await discard(written);
    await passed;
    throw error;
  }
}

export async function discard(paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => rm(path, { force: true })));
}

function createParser(request: IncomingMessage, limits: UploadLimits): busboy.Busboy {
  if (!/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) throw missingFiles();
  try {
    return busboy({
      headers: request.headers,
      preservePath: true,
      defParamCharset: 'utf8',
      limits: { parts: Math.max(MAX_PARTS, limits.maxFiles + 1), fieldSize: MAX_FIELD_BYTES },
    });
  } catch (error) {
    throw malformed(error);
  }
}

/** Stops a request that goes on and on in parts that are not ours. */
function countEnvelope(request: IncomingMessage, limits: UploadLimits, stop: (error: Error) => void) {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= limits.maxTotalSize + ENVELOPE_BYTES) return;
    request.off('data', count);
    stop(new AppError('too_large', 'Total upload size too large'));
  };
  return count;
}

interface PartOptions extends ReceiveOptions {
  state: { bytes: number };
  written: string[];
}

async function receivePart(
  content: Readable,
  filename: string | undefined,
  { directory, limits, state, written }: PartOptions,
): Promise<StagedUpload | null> {
  const name = safeUploadName(filename);
  const staging = join(directory, stagingName(randomUUID()));
  let handle: FileHandle | null = null;
  let size = 0;
  try {
    if (name !== null) {
      written.push(staging);
      handle = await open(staging, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW);
    }
    for await (const chunk of content as AsyncIterable<Buffer>) {
      size += chunk.length;
      state.bytes += chunk.length;
      if (size > limits.maxFileSize) throw new AppError('too_large', `File too large: ${name ?? '(unnamed)'}`);
      if (state.bytes > limits.maxTotalSize) throw new AppError('too_large', 'Total upload size too large');
      await handle?.writeFile(chunk);
    }
    if (name === null || handle === null) return null;
    // Other users' containers read it; and it is on disk before anybody is told of it.
    await handle.chmod(((await handle.stat()).mode & 0o777) | 0o644);
    await handle.sync();
    return { name, staging, size };
  } finally {
    await handle?.close();
  }
}

function missingFiles(): AppError {
  return fault('missing', ['body', FIELD], 'Field required', null);
}

function notAnUpload(value: string): AppError {
  return fault('value_error', ['body', FIELD, 0], 'Value error, expected a file, not a text', value.slice(0, 200));
}

function malformed(cause: unknown): AppError {
  return new AppError('bad_request', 'There was an error parsing the body', { cause });
}

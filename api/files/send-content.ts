import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { AppError } from '../../contracts';
import type { Logger } from '../../observability/logger';
import type { ByteRange } from './byte-range';
import { parseByteRange } from './byte-range';
import type { Content } from './content';
import type { Presentation } from './media-type';

interface SendOptions extends Presentation {
  cacheControl: string;
  signal: AbortSignal;
  log: Logger;
}

/**
 * Answers with the content or the one byte range that was asked for. Several ranges, and ranges in other units, get the
 * whole, as the standard allows. Resolves once everything is sent or the client has gone.
 */
export async function sendContent(
  request: Request,
  response: Response,
  content: Content,
  options: SendOptions,
): Promise<void> {
  response.set({ 'Accept-Ranges': 'bytes', ETag: content.etag, 'Cache-Control': options.cacheControl });
  if (content.modified !== null) response.set('Last-Modified', content.modified.toUTCString());
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  const range = requestedRange(request, content);
  if (range === 'unsatisfiable') {
    response.set('Content-Range', `bytes */${content.size}`);
    for (const header of ['ETag', 'Last-Modified', 'Cache-Control']) response.removeHeader(header);
    throw new AppError('range_not_satisfiable', 'Range not satisfiable');
  }
  response.set({
    'Content-Type': options.contentType,
    'Content-Disposition': options.disposition,
    'X-Content-Type-Options': 'nosniff',
  });
  if (range !== null) response.status(206).set('Content-Range', `bytes ${range.start}-${range.end}/${content.size}`);
  const { start, end } = range ?? { start: 0, end: content.size - 1 };
  response.set('Content-Length', String(end - start + 1));
  if (request.method === 'HEAD' || end < start) {
    response.end();
    return;
  }
  await transfer(content, { start, end }, response, options);
}

function requestedRange(request: Request, content: Content): ByteRange | 'unsatisfiable' | null {
  const header = request.headers.range;
  if (header === undefined || !stillTheSame(request, content)) return null;
  return parseByteRange(header, content.size);
}

/** `If-Range`: a part is only wanted of the very content that the client knows. */
function stillTheSame(request: Request, content: Content): boolean {
  const known = request.headers['if-range'];
  if (typeof known !== 'string') return true;
  if (known.startsWith('"')) return known === content.etag;
  // Dates have whole seconds on the wire.
  return content.modified !== null && known === content.modified.toUTCString();
}

/** After the first byte no error can be told: the connection is cut, so that nobody takes a part for the whole. */
async function transfer(content: Content, range: ByteRange, response: Response, { signal, log }: SendOptions) {
  try {
    await pipeline(Readable.from(content.read(range.start, range.end), { objectMode: false }), response, { signal });
  } catch (error) {
    response.destroy();
    if (!signal.aborted) log.warn({ err: error }, 'A file could not be sent to its end');
  }
}

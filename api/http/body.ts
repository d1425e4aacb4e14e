import { raw } from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { AppError } from '../../contracts';
import { storableJson } from '../../core/text';
import { jsonShape } from './json-shape';
import { fault } from './validation';

/** Largest body of a request that carries no files, in bytes. */
export const BODY_LIMIT_BYTES = 20 * 1024 * 1024;

/** Deeper bodies are refused: nothing that we store or send on may overflow a parser. */
export const MAX_BODY_DEPTH = 200;

/** Bodies with more values are refused: a client that means well sends text, not millions of numbers. */
export const MAX_BODY_VALUES = 500_000;

const JSON_TYPE = /^application\/([a-z0-9.+-]+\+)?json\b/i;

/**
 * Reads the whole body and puts its JSON value into `request.body`; undefined where there is none. A body of another
 * type stays text, so that a schema refuses it as what it is. Uploads are left unread.
 */
export function jsonBody(): RequestHandler[] {
  const read = raw({ type: (request) => !isMultipart(request.headers['content-type']), limit: BODY_LIMIT_BYTES });
  return [read, parseBody];
}

function isMultipart(contentType: string | undefined): boolean {
  return /^multipart\//i.test(contentType ?? '');
}

function parseBody(request: Request, response: Response, next: NextFunction): void {
  const bytes: unknown = request.body;
  if (Buffer.isBuffer(bytes)) {
    const contentType = request.headers['content-type'];
    const isJson = contentType === undefined || JSON_TYPE.test(contentType);
    if (isJson) refuseMonsters(bytes);
    const text = bytes.toString('utf8');
    request.body = isJson ? storable(parseJson(text), text, response) : text || undefined;
  }
  next();
}

function refuseMonsters(bytes: Buffer): void {
  const { depth, values } = jsonShape(bytes, { depth: MAX_BODY_DEPTH, values: MAX_BODY_VALUES });
  if (depth > MAX_BODY_DEPTH) {
    throw fault('value_error', ['body'], `Value error, the body is nested deeper than ${MAX_BODY_DEPTH} levels`, {});
  }
  if (values > MAX_BODY_VALUES) {
    throw fault('value_error', ['body'], `Value error, the body has more than ${MAX_BODY_VALUES} values`, {});
  }
}

/** The body as it was sent, where `request.body` differs from it: for what goes to a file and not to the database. */
export function bodyAsSent(request: Request, response: Response): unknown {
  return 'bodyAsSent' in response.locals ? response.locals['bodyAsSent'] : request.body;
}

/** What Postgres cannot store is replaced, so that a stray NUL never fails a request half-way. */
const UNSTORABLE = /\\u(0000|d[89a-f])/i;

function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw syntaxFault(error instanceof Error ? error.message : '', text);
  }
}

function storable(value: unknown, text: string, response: Response): unknown {
  if (!UNSTORABLE.test(text)) return value;
  response.locals['bodyAsSent'] = value;
  return storableJson(value);
}

function syntaxFault(reason: string, text: string): AppError {
  const place = /position (\d+)/.exec(reason)?.[1];
  const position = place === undefined ? text.length : Number(place);
  const error = reason.startsWith('Expected property name')
    ? 'Expecting property name enclosed in double quotes'
    : 'Expecting value';
  return fault('json_invalid', ['body', position], 'JSON decode error', {}, { error });
}

/**
 * A `fetch` with time-outs of its own for connecting, sending and waiting for the answer to begin. The platform's gives
 * up on an answer that has not begun after five minutes, and cannot be told otherwise. Silence within the answer is for
 * the reader to notice.
 */
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import type { MindIeTimeouts } from './timeouts';

/** Read by its code and by nobody else: the text goes nowhere. */
class TimedOut extends Error {
  readonly code = 'ETIMEDOUT';
}

const WITHOUT_BODY = [204, 205, 304];

export function createPatientFetch(timeouts: MindIeTimeouts): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const headers = Object.fromEntries(new Headers(init.headers));
    const signal = init.signal ?? undefined;
    const body = bodyOf(init.body);
    const request = send(url, {
      method: init.method ?? 'GET',
      // Unlike the platform's, this one cannot unpack.
      headers: { ...headers, 'accept-encoding': 'identity', 'content-length': String(body.byteLength) },
      ...(signal === undefined ? {} : { signal }),
    });
    return toResponse(await answerTo(request, body, timeouts));
  };
}

function answerTo(request: ClientRequest, body: Buffer, timeouts: MindIeTimeouts): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let timer = setTimeout(() => undefined, 0);
    const within = (milliseconds: number, what: string) => {
      clearTimeout(timer);
      timer = setTimeout(() => request.destroy(new TimedOut(`${what} took too long`)), milliseconds);
    };
    within(timeouts.connectMs, 'connecting');
    request.once('socket', (socket) => {
      const connected = () => within(timeouts.writeMs, 'sending');
      if (socket.connecting) socket.once('connect', connected);
      else connected();
    });
    request.once('finish', () => within(timeouts.readMs, 'the answer'));
    request.once('response', (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    request.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.once('close', () => clearTimeout(timer));
    request.end(body);
  });
}

function toResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 502;
  const headers = new Headers();
  for (let index = 0; index + 1 < answer.rawHeaders.length; index += 2) {
    headers.append(answer.rawHeaders[index] ?? '', answer.rawHeaders[index + 1] ?? '');
  }
  if (WITHOUT_BODY.includes(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
}

function bodyOf(body: unknown): Buffer {
  if (body === null || body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body);
  throw new Error('The client library sent a kind of body that is not known here.');
}

/**
 * HTTP to addresses that somebody else chose, as webhooks. Private addresses are refused at the moment of connecting,
 * with the very addresses that are connected to, so that a name cannot change its mind after the check.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { AppError, isAppError } from '../../contracts';
import { isPublicAddress, isRefusedHost } from './addresses';

export const RESPONSE_LIMIT_BYTES = 65_536;

export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

export interface SafeHttpOptions {
  /** For tests and closed networks. */
  allowPrivateAddresses: boolean;
  /** All addresses of a name; the system's resolver by default. */
  resolve?: ResolveHost;
}

export interface SafeHttpRequest {
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  timeoutMs: number;
}

export interface SafeHttpResponse {
  status: number;
  headers: Record<string, string>;
  /** At most `RESPONSE_LIMIT_BYTES` of the body. */
  body: string;
  truncated: boolean;
}

export interface SafeHttp {
  /**
   * Redirects are not followed: the answer is the redirect. Throws `unsafe_url` for a refused address, `unavailable`
   * where the exchange fails, and the signal's reason where it aborts.
   */
  post(url: string, request: SafeHttpRequest): Promise<SafeHttpResponse>;
}

export function createSafeHttp(options: SafeHttpOptions): SafeHttp {
  const resolve = options.resolve ?? systemResolve;
  return {
    async post(url, request) {
      request.signal.throwIfAborted();
      const target = checkedUrl(url, options.allowPrivateAddresses);
      const lookup = checkedLookup(resolve, options.allowPrivateAddresses);
      const timer = AbortSignal.timeout(request.timeoutMs);
      try {
        return await exchange(target, request, lookup, AbortSignal.any([request.signal, timer]));
      } catch (error) {
        request.signal.throwIfAborted();
        if (isAppError(error)) throw error;
        const reason = timer.aborted ? `no answer within ${request.timeoutMs} ms` : 'the connection failed';
        throw new AppError('unavailable', `Request to ${target.host} failed: ${reason}`, { cause: error });
      }
    },
  };
}

/** Everything that the text of the URL tells. A host that is an address is never looked up, so it is judged here. */
function checkedUrl(text: string, allowPrivateAddresses: boolean): URL {
  if (!URL.canParse(text)) throw new AppError('unsafe_url', 'The URL cannot be read');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AppError('unsafe_url', 'Only http and https URLs are supported');
  }
  if (allowPrivateAddresses) return url;
  const host = bareHost(url);
  if (isRefusedHost(host) || (isIP(host) !== 0 && !isPublicAddress(host))) throw privateAddress(host);
  return url;
}

/** One private address among several is enough to refuse: nothing says which of them would be used. */
function checkedLookup(resolve: ResolveHost, allowPrivateAddresses: boolean): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (!first) return callback(new AppError('unavailable', `${host} could not be resolved`), '');
        if (!allowPrivateAddresses && !addresses.every(({ address }) => isPublicAddress(address))) {
          return callback(privateAddress(host), '');
        }
        if (options.all) return callback(null, addresses);
        return callback(null, first.address, first.family);
      },
      (error: unknown) => callback(new AppError('unavailable', `${host} could not be resolved`, { cause: error }), ''),
    );
  };
}

function exchange(
  url: URL,
  { headers, body }: SafeHttpRequest,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<SafeHttpResponse> {
  const content = Buffer.from(body);
  const options: RequestOptions = {
    method: 'POST',
    protocol: url.protocol,
    hostname: bareHost(url),
    port: url.port === '' ? undefined : url.port,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, 'content-length': content.length },
    // No pooled connection of an earlier, perhaps differently judged, request.
    agent: false,
    lookup,
    signal,
  };
  if (url.username !== '' || url.password !== '') {
    options.auth = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  }
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(options);
    request.once('error', reject);
    request.once('response', (response) => {
      readResponse(response)
        .then(resolve, reject)
        .finally(() => request.destroy());
    });
    request.end(content);
  });
}

async function readResponse(response: IncomingMessage): Promise<SafeHttpResponse> {
  const kept: Buffer[] = [];
  let size = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    kept.push(piece);
    size += piece.length;
    if (size > RESPONSE_LIMIT_BYTES) break;
  }
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : `${value}`,
      ]),
    ),
    body: Buffer.concat(kept).subarray(0, RESPONSE_LIMIT_BYTES).toString('utf8'),
    truncated: size > RESPONSE_LIMIT_BYTES,
  };
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function privateAddress(host: string): AppError {
  return new AppError('unsafe_url', `${host} is not a public address`);
}

function systemResolve(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    );
  });
}

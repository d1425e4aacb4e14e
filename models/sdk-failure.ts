/** What a provider's own client library threw, as an error of the catalogue. Read by form: each has classes of its own. */
import { AppError } from '../contracts';
import type { ProviderProblem } from './failure';
import { connectionFailure, providerFailure, readRetryAfter } from './failure';

export function sdkFailure(failure: unknown, secrets: readonly string[]): AppError {
  const { name, message, status, headers, error, cause } = readError(failure);
  // A library wraps what was thrown within it.
  const known = [failure, cause].find((one) => one instanceof AppError);
  if (known !== undefined) return known;
  if (name === 'TimeoutError') return connectionFailure('The model provider did not begin to answer in time');
  if (status !== undefined || error !== undefined) {
    const body = error ?? message.replace(/^\d{3} /, '');
    const problem = problemFromBody(body, headers, status);
    const retryAfterMs = headers === undefined ? undefined : readRetryAfter(headers);
    return providerFailure({ ...problem, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }, secrets);
  }
  if (/api ?key|credentials/i.test(message) && cause === undefined) {
    return new AppError(
      'model_auth',
      'The model has no API key: set api_key in config.yaml, or the variable of its provider',
      {
        detail: { reason: 'auth' },
      },
    );
  }
  if (name === 'ContextOverflowError') return providerFailure({ text: message, httpStatus: 400 }, secrets);
  if (name === 'SyntaxError') return connectionFailure('The model provider sent a part that cannot be read');
  const code = connectionCode(cause ?? failure);
  return connectionFailure(`The connection to the model provider failed${code === null ? '' : ` (${code})`}`);
}

/** The `error` member of a body: text, or an object with some of message, code, type and status. */
export function problemFromBody(error: unknown, headers: Headers | undefined, httpStatus?: number): ProviderProblem {
  const fields: Record<string, unknown> =
    typeof error === 'object' && error !== null ? { ...error } : { message: error };
  const { message, code, type, status } = fields;
  const embedded = [status, code].map(Number).find((number) => number >= 400 && number <= 599);
  const retryAfterMs = headers === undefined ? undefined : readRetryAfter(headers);
  return {
    text: typeof message === 'string' ? message : JSON.stringify(message ?? error),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof type === 'string' ? { type } : {}),
    ...((httpStatus ?? embedded) === undefined ? {} : { httpStatus: httpStatus ?? embedded }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

interface ReadError {
  name: string;
  message: string;
  status?: number;
  headers?: Headers;
  error?: unknown;
  cause?: unknown;
}

/** The parts of the library's errors that matter. Read by name: errors of the platform may have another realm's class. */
function readError(failure: unknown): ReadError {
  const read = (name: string): unknown =>
    typeof failure === 'object' && failure !== null ? Reflect.get(failure, name) : undefined;
  const text = (name: string): string => {
    const value = read(name);
    return typeof value === 'string' ? value : '';
  };
  const [headers, error, cause] = [read('headers'), read('error'), read('cause')];
  const status = [read('status'), read('status_code')].find((value) => typeof value === 'number');
  return {
    name: text('name'),
    message: text('message'),
    ...(typeof status === 'number' ? { status } : {}),
    ...(headers instanceof Headers ? { headers } : {}),
    ...(error === undefined || error === null ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
  };
}

/** The innermost system code, such as ECONNREFUSED; other texts of the network layer may name hosts. */
function connectionCode(error: unknown): string | null {
  let code: string | null = null;
  let current: unknown = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth += 1) {
    const own: unknown = Reflect.get(current, 'code');
    if (typeof own === 'string' && /^[A-Z0-9_]{3,40}$/.test(own)) code = own;
    current = Reflect.get(current, 'cause');
  }
  return code;
}

/** Turns what a provider answered, or how the connection broke, into an error of the catalogue. Pure. */
import { AppError } from '../contracts';
import type { ErrorCode } from '../contracts';
import { redactText } from '../observability';
import type { ModelFailureDetail } from './chat-model';

/** Longest wait that a provider may ask for; a longer one ends the call and the user is told how long it is. */
export const LONGEST_PROVIDER_WAIT_MS = 120_000;
const MAX_MESSAGE_CHARS = 500;

export interface ProviderProblem {
  httpStatus?: number;
  /** The provider's machine-readable code and type, where it sent any. */
  code?: string;
  type?: string;
  text: string;
  retryAfterMs?: number;
}

type Reason = ModelFailureDetail['reason'];

interface FailureClass {
  code: ErrorCode;
  reason: Reason;
  busy?: boolean;
  words: RegExp | null;
  statuses: readonly number[];
  summary: string;
}

/** As the providers word it; a limit of tokens per minute is none of these. */
const CONTEXT_LENGTH = new RegExp(
  [
    'context[_ ]length[_ ]exceeded',
    'maximum context length',
    'max(imum)? (model|input|sequence) (len(gth)?|tokens)',
    'max_model_len',
    'context (window|length|size|limit)',
    'model_context_window_exceeded',
    'prompt (is|was) too (long|large)',
    'input (is |was )?too (long|large)',
    'input (length|token count).{0,80}exceed',
    'exceeds? (the )?(max(imum)?|model.s) (number of |allowed )?(input |prompt |context )?(tokens|length|context)',
    'range of input length',
    'reduce the length of (the|your) (messages|prompt|input)',
    'request_too_large',
    'string_above_max_length',
    '上下文长度|上下文超|输入过长|超出最大(长度|上下文)|超过模型最大',
  ].join('|'),
  'i',
);

/** The first class whose words or status fit decides; the order is part of the behaviour. */
const CLASSES: readonly FailureClass[] = [
  {
    code: 'model_quota',
    reason: 'quota',
    words: /insufficient_quota|quota|billing|credit|payment|余额不足|超出限额|额度不足|欠费/i,
    statuses: [402],
    summary: 'The account at the model provider has no quota left',
  },
  {
    code: 'model_auth',
    reason: 'auth',
    words:
      /authentication|unauthorized|invalid[ _]api[ _]key|incorrect api key|permission|forbidden|access denied|无权|未授权/i,
    statuses: [401, 403],
    summary: 'The model provider refused the API key',
  },
  {
    // Not retried as it is: a shorter request may pass. Before the classes whose words a provider mixes in.
    code: 'model_context_length',
    reason: 'context_length',
    words: CONTEXT_LENGTH,
    statuses: [],
    summary: 'The conversation is longer than the model can read',
  },
  {
    code: 'model_rate_limited',
    reason: 'burst',
    words: /limit_burst_rate|rate increased too quickly|burst rate|请求速率增长过快|突发速率/i,
    statuses: [],
    summary: 'The model provider wants requests to rise more slowly',
  },
  {
    code: 'model_rate_limited',
    reason: 'transient',
    words: /rate[ _-]?limit|too many requests|high demand/i,
    statuses: [429],
    summary: 'The model provider limits the rate of requests',
  },
  {
    code: 'model_unavailable',
    reason: 'transient',
    words:
      /time(d)?[ -]?out|connection error|(internal )?server[ _]error|internal[ _]error|read error|remote protocol error/i,
    statuses: [408, 409, 425, 500, 502, 503, 504, 529],
    summary: 'The model provider is not available',
  },
  {
    code: 'model_unavailable',
    reason: 'transient',
    busy: true,
    words: /server busy|temporarily unavailable|try again later|please (re)?try|overloaded|负载较高|服务繁忙|稍后重试/i,
    statuses: [],
    summary: 'The model provider is not available',
  },
];

const REJECTED: Pick<FailureClass, 'code' | 'reason' | 'summary' | 'busy'> = {
  code: 'model_rejected',
  reason: 'rejected',
  summary: 'The model provider rejected the request',
};

/** The error for an answer of the provider; `secrets` are removed from its text wherever they occur. */
export function providerFailure(problem: ProviderProblem, secrets: readonly string[] = []): AppError {
  const wording = [problem.code, problem.type, problem.text].filter(Boolean).join(' ');
  const byWords = CLASSES.find(({ words }) => words?.test(wording));
  const byStatus = CLASSES.find(({ statuses }) => statuses.includes(problem.httpStatus ?? 0));
  const found = pickClass(byWords, byStatus, problem);
  return modelError(found.code, found.summary, {
    reason: found.reason,
    busy: found.busy,
    httpStatus: problem.httpStatus,
    retryAfterMs: problem.retryAfterMs,
    text: cleanText(problem.text, secrets),
  });
}

/** Classes whose words count also in the text of a refused request. */
const ENDS_THE_MATTER: readonly Reason[] = ['quota', 'auth', 'context_length'];

function pickClass(
  byWords: FailureClass | undefined,
  byStatus: FailureClass | undefined,
  { httpStatus, code = '' }: ProviderProblem,
): Pick<FailureClass, 'code' | 'reason' | 'summary' | 'busy'> {
  if (byWords === undefined) return byStatus ?? REJECTED;
  // A refused request may quote the conversation: only words that end the matter count then, not "try again later".
  const byAnswer = httpStatus !== undefined && httpStatus >= 400 && httpStatus < 500 && byStatus === undefined;
  // In the middle of a stream there is no status.
  const refused = byAnswer || (httpStatus === undefined && code.startsWith('invalid_'));
  if (refused && !ENDS_THE_MATTER.includes(byWords.reason)) return REJECTED;
  if (byStatus === undefined) return byWords;
  return CLASSES.indexOf(byWords) <= CLASSES.indexOf(byStatus) ? byWords : byStatus;
}

/** The connection could not be made, or broke before the reply was complete. */
export function connectionFailure(what: string): AppError {
  return modelError('model_unavailable', what, { reason: 'transient' });
}

export function stalledFailure(timeoutMs: number): AppError {
  return modelError('model_unavailable', `The model sent nothing for ${timeoutMs / 1000} seconds`, {
    reason: 'stalled',
  });
}

/** The connection was kept alive, and nothing came over it. */
export function contentlessFailure(quietMs: number): AppError {
  return modelError('model_unavailable', `The model sent only empty parts for ${quietMs / 1000} seconds`, {
    reason: 'stalled',
  });
}

export function emptyReplyFailure(finishReason: string | null): AppError {
  const why = finishReason === null ? '' : ` (finish reason ${finishReason})`;
  return modelError('model_empty_reply', `The model answered with neither text nor a tool call${why}`, {
    reason: 'empty',
  });
}

interface FailureParts extends ModelFailureDetail {
  text?: string;
}

function modelError(code: ErrorCode, summary: string, { text, ...parts }: FailureParts): AppError {
  const { reason, httpStatus, retryAfterMs } = parts;
  const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
  const tooLong = retryAfterMs !== undefined && retryAfterMs > LONGEST_PROVIDER_WAIT_MS;
  const wait = tooLong ? `; it asks to wait ${Math.ceil(retryAfterMs / 1000)} seconds` : '';
  const message = `${summary}${status}${wait}${text ? `: ${text}` : ''}`;
  const detail: ModelFailureDetail = {
    reason,
    ...(parts.busy === true ? { busy: true } : {}),
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  return new AppError(code, shorten(message), { detail });
}

/** What the model seam promises to put into `options.detail`; null for errors of other origin. */
export function failureDetail(error: unknown): ModelFailureDetail | null {
  if (!(error instanceof AppError) || !error.code.startsWith('model_')) return null;
  const detail = error.options.detail;
  return typeof detail === 'object' && detail !== null && 'reason' in detail ? (detail as ModelFailureDetail) : null;
}

/** Whether a call that failed in spite of all attempts says that the model as a whole does not work. */
export function countsForCircuit(error: AppError): boolean {
  const reason = failureDetail(error)?.reason;
  return error.retryable && (reason === 'transient' || reason === 'stalled' || reason === 'empty');
}

const CLIENT_REASONS: Partial<Record<Reason, string>> = {
  burst: 'burst_rate',
  stalled: 'transient',
  empty: 'transient',
  rejected: 'generic',
};

/** The failure in the words that clients know: `error_type` and `error_reason` of the message that stands for a reply. */
export function clientFailure(error: AppError): { type: string; reason: string } {
  const { reason = 'transient', busy } = failureDetail(error) ?? {};
  const isBusy = reason === 'transient' && (busy === true || error.code === 'model_rate_limited');
  return {
    type: error.code === 'model_circuit_open' ? 'CircuitBreakerOpen' : error.code,
    reason: isBusy ? 'busy' : (CLIENT_REASONS[reason] ?? reason),
  };
}

/** One line without keys, passwords, mark-up and anything else that does not belong before a user's eyes. */
function cleanText(text: string, secrets: readonly string[]): string {
  const page = /<(!doctype|html|head|body)\b/i.test(text);
  const title = page ? (/<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? '') : text;
  const known = secrets.filter((secret) => secret.length >= 4);
  const masked = known.reduce((result, secret) => result.replaceAll(secret, '[redacted]'), title);
  return shorten(redactText(masked).replace(/\s+/g, ' ').trim());
}

function shorten(text: string): string {
  return text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}

/** `Retry-After-Ms`, or `Retry-After` as seconds or HTTP date, in milliseconds. */
export function readRetryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const milliseconds = headers.get('retry-after-ms')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds);
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** What every tool result says about itself for policies and user interfaces. */
import { isAppError, type ErrorCode } from '../contracts';
import type { ToolOutcome } from './tool';

export type ToolErrorType =
  'auth' | 'config' | 'internal' | 'rate_limited' | 'transient' | 'permission' | 'unknown' | 'no_results' | 'not_found';

export type ToolMetaSource = 'exception' | 'tool_return' | 'content_analysis' | 'progress_middleware';

export type ToolMeta = {
  status: 'success' | 'error' | 'partial_success';
  error_type: ToolErrorType | null;
  recoverable_by_model: boolean;
  recommended_next_action: 'continue' | 'rewrite_query' | 'try_alternative' | 'summarize' | 'stop';
  source: ToolMetaSource;
};

const ADVICE: Record<ToolErrorType, Pick<ToolMeta, 'recoverable_by_model' | 'recommended_next_action'>> = {
  auth: { recoverable_by_model: false, recommended_next_action: 'stop' },
  config: { recoverable_by_model: false, recommended_next_action: 'stop' },
  internal: { recoverable_by_model: false, recommended_next_action: 'stop' },
  rate_limited: { recoverable_by_model: false, recommended_next_action: 'summarize' },
  transient: { recoverable_by_model: false, recommended_next_action: 'try_alternative' },
  permission: { recoverable_by_model: true, recommended_next_action: 'try_alternative' },
  unknown: { recoverable_by_model: true, recommended_next_action: 'try_alternative' },
  no_results: { recoverable_by_model: true, recommended_next_action: 'rewrite_query' },
  not_found: { recoverable_by_model: true, recommended_next_action: 'rewrite_query' },
};

/** First match wins. Only the beginning of an error is looked at: what follows may quote anything. */
const ERROR_PATTERNS: ReadonlyArray<readonly [RegExp, ToolErrorType]> = [
  [/\b(?:429|rate.?limit|too many requests|quota exceeded)/i, 'rate_limited'],
  [/\b(?:401|unauthori[sz]ed|authentication|invalid api key|api key (?:is )?(?:missing|invalid|required))/i, 'auth'],
  [/\b(?:not configured|missing configuration|is disabled)/i, 'config'],
  [/\b(?:403|forbidden|permission denied|access denied|not allowed|only files in|read-only)/i, 'permission'],
  [/\b(?:no results|nothing found|no matches)/i, 'no_results'],
  [/\b(?:404|not found|does not exist|no such file)/i, 'not_found'],
  [
    /\b(?:timed out|timeout|no result within|temporarily|connection (?:refused|reset|failed)|unavailable|50[234])\b/i,
    'transient',
  ],
];

const CODE_TYPES: Partial<Record<ErrorCode, ToolErrorType>> = {
  forbidden: 'permission',
  not_found: 'not_found',
  unavailable: 'transient',
  configuration: 'config',
  internal: 'internal',
};

/** Titles of pages that a fetch got instead of the page that it asked for. */
const ERROR_PAGE_TITLE =
  /^(?:#+\s*|title:\s*)?(?:(?:error\s*)?(?:40[0-9]|41[0-9]|429|50[0-9])\b|page not found|not found$|access denied|forbidden|just a moment|attention required|service unavailable|bad gateway)/i;

export function toolMeta(name: string, outcome: ToolOutcome, thrown?: unknown): ToolMeta {
  if (outcome.status === 'error') {
    const type = (isAppError(thrown) && CODE_TYPES[thrown.code]) || errorTypeOf(outcome.content);
    return errorMeta(type, thrown === undefined || isAppError(thrown) ? 'tool_return' : 'exception');
  }
  if (name === 'web_fetch' && isErrorPage(outcome.content)) {
    return errorMeta(errorTypeOf(firstLine(outcome.content)), 'content_analysis');
  }
  return {
    status: 'success',
    error_type: null,
    recoverable_by_model: true,
    recommended_next_action: 'continue',
    source: 'content_analysis',
  };
}

function errorMeta(type: ToolErrorType, source: ToolMetaSource): ToolMeta {
  return { status: 'error', error_type: type, ...ADVICE[type], source };
}

function errorTypeOf(text: string): ToolErrorType {
  const beginning = text.slice(0, 500);
  return ERROR_PATTERNS.find(([pattern]) => pattern.test(beginning))?.[1] ?? 'unknown';
}

function isErrorPage(content: string): boolean {
  return ERROR_PAGE_TITLE.test(firstLine(content));
}

function firstLine(content: string): string {
  return content.trimStart().split('\n', 1)[0]?.slice(0, 200) ?? '';
}

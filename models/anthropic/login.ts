/** The login of Claude Code: where it is found, and what goes with it. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { SystemMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';

type Variables = Readonly<Record<string, string | undefined>>;

const BETAS = 'oauth-2025-04-20,claude-code-20250219,interleaved-thinking-2025-05-14';
const BILLING_TEXT = "You are Claude Code, Anthropic's official CLI for Claude.";
/** A token this near to its end would end during a call. */
const MARGIN_MS = 60_000;

/** What a descriptor held: it can be read only once. */
const drained = new Map<string, string>();

/** The newest of: a token in a variable, in a descriptor, in a file that is named, or in the usual file. */
export function findLogin(env: Variables, now: () => number = Date.now): string | null {
  const direct = env['CLAUDE_CODE_OAUTH_TOKEN']?.trim() || env['ANTHROPIC_AUTH_TOKEN']?.trim();
  if (direct) return direct;
  const descriptor = env['CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR']?.trim();
  const handed = descriptor ? drain(descriptor) : '';
  if (handed) return handed;
  const named = env['CLAUDE_CODE_CREDENTIALS_PATH']?.trim();
  return tokenIn(named || join(env['HOME'] || homedir(), '.claude', '.credentials.json'), now());
}

function drain(descriptor: string): string {
  const known = drained.get(descriptor);
  if (known !== undefined) return known;
  try {
    const token = readFileSync(Number(descriptor), 'utf8').trim();
    drained.set(descriptor, token);
    return token;
  } catch {
    return '';
  }
}

function tokenIn(path: string, now: number): string | null {
  try {
    const { claudeAiOauth: login } = JSON.parse(readFileSync(path, 'utf8')) as {
      claudeAiOauth?: { accessToken?: unknown; expiresAt?: unknown };
    };
    const { accessToken, expiresAt } = login ?? {};
    if (typeof accessToken !== 'string' || accessToken === '') return null;
    return typeof expiresAt === 'number' && expiresAt - MARGIN_MS <= now ? null : accessToken;
  } catch {
    return null;
  }
}

export function isOAuthToken(token: string): boolean {
  return token.startsWith('sk-ant-oat');
}

export function oauthHeaders(): Record<string, string> {
  return { 'anthropic-beta': BETAS };
}

/** The provider takes such a login only with this text before all other instructions. */
export function withBillingText(env: Variables): (messages: BaseMessage[]) => BaseMessage[] {
  const text = env['ANTHROPIC_BILLING_HEADER']?.trim() || BILLING_TEXT;
  return (messages) => {
    const [first, ...rest] = messages;
    const own = first instanceof SystemMessage && typeof first.content === 'string' ? first.content : null;
    const blocks = [text, ...(own === null ? [] : [own])].map((part) => ({ type: 'text' as const, text: part }));
    return [new SystemMessage({ content: blocks }), ...(own === null ? messages : rest)];
  };
}

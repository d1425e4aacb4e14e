/** The login of Claude Code: where it is found, and what goes with it. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { SystemMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';

type Variables = Readonly<Record<string, string | undefined>>;

/** Below the home of the user. */
export const LOGIN_FILE = join('.claude', '.credentials.json');
const BETAS = 'oauth-2025-04-20,claude-code-20250219,interleaved-thinking-2025-05-14';
/** In the form of the provider's own command line. A variable replaces it where the provider has moved on. */
const BILLING_TEXT = 'x-anthropic-billing-header: cc_version=2.1.85.351; cc_entrypoint=cli; cch=6c6d5;';
/** A token this near to its end would end during a call. */
const MARGIN_MS = 60_000;

/** What a descriptor held: it can be read only once. */
const drained = new Map<string, string>();

export interface Login {
  /** Null where there is no login that can be used. */
  token: string | null;
  /** Whether there was one that has expired. */
  expired: boolean;
}

/** The first of: a token in a variable, in a descriptor, in a file that is named, and in the usual file. */
export function findLogin(env: Variables, now: () => number = Date.now): Login {
  const direct = env['CLAUDE_CODE_OAUTH_TOKEN']?.trim() || env['ANTHROPIC_AUTH_TOKEN']?.trim();
  const token = direct || drain(env['CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR']?.trim() ?? '');
  if (token !== '') return { token, expired: false };
  const home = env['HOME'] || homedir();
  const named = env['CLAUDE_CODE_CREDENTIALS_PATH']?.trim().replace(/^~(?=\/|$)/, home);
  const found = [...(named ? [named] : []), join(home, LOGIN_FILE)].map((path) => loginIn(path, now()));
  return found.find((login) => login.token !== null) ?? { token: null, expired: found.some(({ expired }) => expired) };
}

function drain(descriptor: string): string {
  const known = drained.get(descriptor);
  if (known !== undefined || !/^\d+$/.test(descriptor)) return known ?? '';
  try {
    const token = readFileSync(Number(descriptor), 'utf8').trim();
    drained.set(descriptor, token);
    return token;
  } catch {
    return '';
  }
}

function loginIn(path: string, now: number): Login {
  const none = { token: null, expired: false };
  try {
    const { claudeAiOauth: login } = JSON.parse(readFileSync(path, 'utf8')) as {
      claudeAiOauth?: { accessToken?: unknown; expiresAt?: unknown };
    };
    const { accessToken, expiresAt = 0 } = login ?? {};
    if (typeof accessToken !== 'string' || accessToken === '' || typeof expiresAt !== 'number') return none;
    const expired = expiresAt > 0 && expiresAt - MARGIN_MS <= now;
    return { token: expired ? null : accessToken, expired };
  } catch {
    return none;
  }
}

export function isOAuthToken(token: string): boolean {
  return token.startsWith('sk-ant-oat');
}

/** The token goes out as a login and never as a key, which the client would do as well. */
export function oauthHeaders(): Record<string, string | null> {
  return { 'anthropic-beta': BETAS, 'x-api-key': null };
}

/** Tells the provider apart which machine asks, without saying which it is. */
export function oauthMetadata(): { user_id: string } {
  const device = createHash('sha256').update(`deerflow-${hostname()}`).digest('hex');
  return { user_id: JSON.stringify({ device_id: device, account_uuid: 'deerflow', session_id: randomUUID() }) };
}

/** The provider takes such a login only with this text before all other instructions. */
export function withBillingText(messages: BaseMessage[], env: Variables): BaseMessage[] {
  const text = env['ANTHROPIC_BILLING_HEADER']?.trim() || BILLING_TEXT;
  const [first, ...rest] = messages;
  const own = first instanceof SystemMessage && typeof first.content === 'string' ? first.content : null;
  const blocks = [text, ...(own === null ? [] : [own])].map((part) => ({ type: 'text' as const, text: part }));
  return [new SystemMessage({ content: blocks }), ...(own === null ? messages : rest)];
}

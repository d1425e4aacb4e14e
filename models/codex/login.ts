/** The login of the Codex command line: where it is found, and what is in it. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../contracts';

type Variables = Readonly<Record<string, string | undefined>>;

export interface CodexLogin {
  token: string;
  accountId: string | null;
}

/** Read anew with every call of the model, so that a new login counts at once. Throws `model_auth` where there is none. */
export function findCodexLogin(env: Variables): CodexLogin {
  const named = env['CODEX_AUTH_PATH']?.trim();
  const login = readLogin(named || join(env['HOME'] || homedir(), '.codex', 'auth.json'));
  if (login !== null) return login;
  const where = named ? 'at CODEX_AUTH_PATH' : 'at ~/.codex/auth.json';
  const remedy = 'log in with the command line of Codex, or set CODEX_AUTH_PATH';
  throw new AppError('model_auth', `No login of Codex was found ${where}: ${remedy}`, { detail: { reason: 'auth' } });
}

function readLogin(path: string): CodexLogin | null {
  try {
    const file = fieldsOf(JSON.parse(readFileSync(path, 'utf8')));
    const tokens = fieldsOf(file['tokens']);
    const token = firstText(file['access_token'], file['token'], tokens['access_token']);
    return token === null ? null : { token, accountId: firstText(file['account_id'], tokens['account_id']) };
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function firstText(...values: unknown[]): string | null {
  const found = values.find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof found === 'string' ? found.trim() : null;
}

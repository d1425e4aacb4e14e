/** Keeps what an entry of the configuration holds in confidence out of every error, whatever its adapter knows of it. */
import { AppError, isAppError } from '../contracts';
import type { ModelConfig } from '../contracts/schemas/config';
import type { ChatModel } from './chat-model';

/** Keys whose texts go to a provider as proof of who asks, and those that hold such texts. */
const SECRET_KEY = /(key|token|secret|password|credentials?|authorization|headers|query|cookies?)$/i;
/** Shorter values are words that occur everywhere, such as `true`. */
const SHORTEST = 8;

/** The model, whose errors repeat no secret of its entry. */
export function keepSecrets(model: ChatModel, entry: ModelConfig): ChatModel {
  const secrets = secretsIn(entry);
  if (secrets.length === 0) return model;
  return {
    ...model,
    async reply(request) {
      try {
        return await model.reply(request);
      } catch (error) {
        throw withoutSecrets(error, secrets);
      }
    },
  };
}

function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!isAppError(error)) return error;
  const message = secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), error.message);
  return message === error.message ? error : new AppError(error.code, message, error.options);
}

/** Longer ones first: one may hold another. */
export function secretsIn(entry: ModelConfig): string[] {
  const texts = [...new Set(textsIn(entry, false))].filter(({ length }) => length >= SHORTEST);
  return texts.sort((left, right) => right.length - left.length);
}

function textsIn(value: unknown, secret: boolean): string[] {
  if (typeof value === 'string') return secret ? [value, ...credentialsIn(value)] : credentialsIn(value);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, secret || SECRET_KEY.test(key)));
}

/** The password of an address, as it is written and as it is meant; the token of an `Authorization` header. */
function credentialsIn(text: string): string[] {
  const token = /^(?:bearer|basic) (\S+)$/i.exec(text)?.[1];
  if (token !== undefined) return [token];
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return [];
  const { password } = new URL(text);
  try {
    return password === '' ? [] : [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

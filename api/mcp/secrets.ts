/** Secrets of MCP servers: shown as a mask, and kept where the mask comes back. */
import { AppError } from '../../contracts';
import type { WrittenServer } from '../../contracts/schemas/mcp-config';

const MASK = '***';
/** Maps whose every value is secret. */
const SECRET_MAPS = new Set(['env', 'headers', 'extra_token_params']);
/** Shown as null. Null means that what is stored stays, and empty text that it goes. */
const OAUTH_SECRETS = new Set(['client_secret', 'refresh_token']);
/** Keys that this server knows and that are no secrets, whatever words are in them. */
const OPEN_KEYS = new Set(
  `enabled type transport command args url description tool_name_prefix tool_call_timeout session_init_timeout routing
  tools task_toolsets token_url grant_type client_id scope audience token_field token_type_field expires_in_field
  default_token_type refresh_skew_seconds`.split(/\s+/),
);
const SECRET_WORDS =
  /(^|_)(api_?key|access_key|private_key|secret|token|password|passwd|credentials?|authorization|bearer)(_|$)/;

type Mapping = Readonly<Record<string, unknown>>;

export function maskedServer(server: WrittenServer): Mapping {
  return mapEntries(server, (key, value) => {
    if (OPEN_KEYS.has(key)) return value;
    return key === 'oauth' && isMapping(value) ? maskedOauth(value) : masked(key, value);
  });
}

function maskedOauth(oauth: Mapping): Mapping {
  return mapEntries(oauth, (key, value) => {
    if (OAUTH_SECRETS.has(key)) return null;
    return OPEN_KEYS.has(key) ? value : masked(key, value);
  });
}

function masked(key: string, value: unknown): unknown {
  if (SECRET_MAPS.has(key) && isMapping(value)) return mapEntries(value, () => MASK);
  if (isSecretKey(key)) return MASK;
  if (Array.isArray(value)) return value.map((item) => masked('', item));
  return isMapping(value) ? mapEntries(value, masked) : value;
}

/**
 * The server as it was sent, with what is stored in the place of each mask.
 * @throws AppError `bad_request` for a mask where nothing is stored.
 */
export function withStoredSecrets(sent: WrittenServer, stored: WrittenServer | undefined, name: string): WrittenServer {
  return mapEntries(sent, (key, value) => {
    const kept = stored?.[key];
    if (OPEN_KEYS.has(key)) return value;
    const place = `${key} of MCP server '${name}'`;
    return key === 'oauth' && isMapping(value) ? storedOauth(value, kept, place) : restored(key, value, kept, place);
  });
}

function storedOauth(sent: Mapping, kept: unknown, place: string): Mapping {
  // Left out means the same as null.
  const secrets = [...OAUTH_SECRETS].filter((key) => entry(kept, key) !== undefined || key in sent);
  const all = { ...sent, ...Object.fromEntries(secrets.map((key) => [key, sent[key] ?? null])) };
  return mapEntries(all, (key, value) => {
    if (OAUTH_SECRETS.has(key)) return value === null ? (entry(kept, key) ?? null) : value === '' ? null : value;
    return OPEN_KEYS.has(key) ? value : restored(key, value, entry(kept, key), `${key} in ${place}`);
  });
}

function restored(key: string, value: unknown, kept: unknown, place: string): unknown {
  if (SECRET_MAPS.has(key) && isMapping(value)) {
    return mapEntries(value, (inner, text) => unmasked(text, entry(kept, inner), `${inner} in ${place}`));
  }
  if (isSecretKey(key)) return unmasked(value, kept, place);
  if (Array.isArray(value)) {
    const former: unknown[] = Array.isArray(kept) && kept.length === value.length ? kept : [];
    return value.map((item, index) => restored('', item, former[index], place));
  }
  if (!isMapping(value)) return value;
  return mapEntries(value, (inner, item) => restored(inner, item, entry(kept, inner), `${inner} in ${place}`));
}

function unmasked(value: unknown, kept: unknown, place: string): unknown {
  if (value !== MASK) return value;
  if (kept !== undefined) return kept;
  throw new AppError('bad_request', `${place} is the mask ${MASK}, and nothing is stored for it; send the real value.`);
}

/** `apiKey`, `API-KEY` and `api_key` are the same words. */
function isSecretKey(key: string): boolean {
  const words = key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return SECRET_WORDS.test(words.replace(/[^a-z0-9]+/g, '_'));
}

function entry(value: unknown, key: string): unknown {
  return isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapEntries(mapping: Mapping, change: (key: string, value: unknown) => unknown): Mapping {
  return Object.fromEntries(Object.entries(mapping).map(([key, value]) => [key, change(key, value)]));
}

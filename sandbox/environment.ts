/**
 * What a command sees of the service's environment: everything but what looks like a secret.
 */
import { AppError } from '../contracts';

export type Environment = Readonly<Record<string, string | undefined>>;

const SECRET_PARTS = ['KEY', 'SECRET', 'TOKEN', 'PASS', 'CREDENTIAL', 'DSN'];

/** Names that hold passwords inside connection strings, or point to files that do. */
const SECRET_NAMES = new Set([
  'DATABASE_URL',
  'DATABASE_URI',
  'REDIS_URL',
  'MONGODB_URI',
  'MONGO_URL',
  'AMQP_URL',
  'RABBITMQ_URL',
  'POSTGRES_URL',
  'POSTGRESQL_URL',
  'MYSQL_URL',
  'CLICKHOUSE_URL',
  'CONNECTION_STRING',
  'CONN_STR',
  'GH_PAT',
  'GITHUB_PAT',
  'MYSQL_PWD',
  'REDISCLI_AUTH',
  'REDIS_AUTH',
  'PGSERVICEFILE',
]);

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SHORTEST_REDACTED = 8;

export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return SECRET_NAMES.has(upper) || SECRET_PARTS.some((part) => upper.includes(part));
}

export interface Inherited {
  environment: Environment;
  /** Names of secrets that do not look like it. */
  secrets: ReadonlySet<string>;
}

/** The environment of a command: what is left of the service's, and what this call injects. Injected values win. */
export function commandEnvironment(
  { environment, secrets }: Inherited,
  injected: Record<string, string>,
): Record<string, string> {
  for (const name of Object.keys(injected)) {
    if (!VARIABLE_NAME.test(name)) throw new AppError('bad_request', `Invalid environment variable name: '${name}'`);
  }
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isSecretName(entry[0]) && !secrets.has(entry[0]),
  );
  return { ...Object.fromEntries(kept), ...injected };
}

/** Replaces injected values in output. Short ones stay: they would match everywhere and hide nothing. */
export function redactValues(text: string, values: Iterable<string>): string {
  return [...new Set(values)]
    .filter((value) => value.length >= SHORTEST_REDACTED)
    .sort((a, b) => b.length - a.length)
    .reduce((masked, value) => masked.replaceAll(value, '[redacted]'), text);
}

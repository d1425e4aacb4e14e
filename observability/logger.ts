import pino from 'pino';
import type { DestinationStream, Logger, LoggerOptions } from 'pino';
import { redact } from './redact';

export type { Logger };

export interface CreateLoggerOptions {
  /** A pino level; an unknown word counts as `info`, so that a typing error never silences a server. */
  level?: string;
  /** Which process or part speaks. */
  name: string;
  /** Coloured lines for people instead of JSON; needs the development dependencies, else JSON stays. */
  pretty?: boolean;
  /** Where lines go; standard output unless given. */
  destination?: DestinationStream;
}

const LEVELS = new Set([...Object.keys(pino.levels.values), 'silent']);

export function createLogger({ level = 'info', name, pretty = false, destination }: CreateLoggerOptions): Logger {
  const known = level.toLowerCase();
  const options: LoggerOptions = {
    name,
    level: LEVELS.has(known) ? known : 'info',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label) => ({ level: label }),
      bindings: (bindings) => redactRecord(bindings),
      log: (fields) => redactRecord(fields),
    },
    // `redact` has made plain objects of errors already.
    serializers: { err: (value: unknown) => value },
    hooks: {
      // Texts can hold addresses with passwords too; interpolation values are redacted with them.
      logMethod(parameters, method) {
        const [first, ...rest]: unknown[] = parameters;
        const clean = rest.map((value) => redact(value));
        const fields = first instanceof Error ? { err: first } : typeof first === 'string' ? redact(first) : first;
        if (first instanceof Error && clean.length === 0) clean.push(redact(first.message));
        method.apply(this, [fields, ...clean] as Parameters<typeof method>);
      },
    },
  };
  if (destination !== undefined) return withCleanChildren(pino(options, destination));
  if (!pretty || !isInstalled('pino-pretty')) return withCleanChildren(pino(options));
  const logger = pino({
    ...options,
    // A transport in its own thread takes no level formatter.
    formatters: { bindings: redactRecord, log: redactRecord },
    transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } },
  });
  return withCleanChildren(logger);
}

/** Pino passes the bindings of children to no formatter. Children inherit the method, so grandchildren are covered. */
function withCleanChildren(logger: Logger): Logger {
  const child = Reflect.get(logger, 'child') as unknown as (
    this: Logger,
    bindings: pino.Bindings,
    options?: pino.ChildLoggerOptions,
  ) => Logger;
  return Object.assign(logger, {
    child(this: Logger, bindings: pino.Bindings, options?: pino.ChildLoggerOptions): Logger {
      return child.call(this, redactRecord(bindings), options);
    },
  });
}

/** A logger for everything that one run says. */
export function runLogger(log: Logger, ids: { runId: string; threadId: string }): Logger {
  return log.child({ runId: ids.runId, threadId: ids.threadId });
}

/** For tests: takes everything, says nothing. */
export function createSilentLogger(): Logger {
  return pino({ level: 'silent' });
}

function redactRecord(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(redact({ ...fields }) as Record<string, unknown>));
}

function isInstalled(module: string): boolean {
  try {
    require.resolve(module);
    return true;
  } catch {
    return false;
  }
}

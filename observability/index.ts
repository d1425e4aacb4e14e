/** Logging without secrets. Imports no other folder, so that every folder can import it. */
export { createLogger, createSilentLogger, runLogger } from './logger';
export type { CreateLoggerOptions, Logger } from './logger';
export { redactText } from './redact';

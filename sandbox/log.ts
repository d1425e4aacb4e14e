/** What the sandbox needs of a logger. */
export interface SandboxLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLog: SandboxLog = { warn: () => undefined, error: () => undefined };

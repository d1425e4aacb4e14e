/**
 * The contract that every sandbox provider meets (sandbox specification 1). Paths are virtual (`/mnt/user-data/…`);
 * translation to the host is the provider's business. Failures are thrown as `AppError` whose message holds virtual
 * paths only and is fit for the model.
 */

export interface CommandOptions {
  /** Variables for this command only; they never appear in the command text. */
  env?: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface GlobOptions {
  includeDirectories: boolean;
  maxResults: number;
}

export interface GrepOptions {
  glob: string | null;
  literal: boolean;
  caseSensitive: boolean;
  maxResults: number;
}

export interface GrepMatch {
  path: string;
  lineNumber: number;
  line: string;
}

export interface Sandbox {
  readonly id: string;
  /** Standard output, standard error and exit status merged into one text (sandbox specification 6.3). */
  executeCommand(command: string, options: CommandOptions): Promise<string>;
  /** The whole file as text. Throws for missing files, directories and files that are not UTF-8. */
  readFile(path: string): Promise<string>;
  /** Writes atomically (temporary file, then rename) and creates parent directories. */
  writeFile(path: string, text: string, options: { append: boolean }): Promise<void>;
  /** Raw bytes of a file, or null where it does not exist. */
  readBytes(path: string): Promise<Buffer | null>;
  listDirectory(path: string, maxDepth: number): Promise<string[]>;
  glob(path: string, pattern: string, options: GlobOptions): Promise<{ paths: string[]; truncated: boolean }>;
  grep(path: string, pattern: string, options: GrepOptions): Promise<{ matches: GrepMatch[]; truncated: boolean }>;
}

/** Whose sandbox: one per owner and thread. */
export interface SandboxScope {
  owner: string;
  threadId: string;
}

export interface SandboxProvider {
  /** Same scope, same id; creation is lazy. */
  acquire(scope: SandboxScope): Promise<Sandbox>;
  /** Whether `bash` may run at all with this provider and configuration. */
  readonly commandsAllowed: boolean;
  shutdown(): Promise<void>;
}

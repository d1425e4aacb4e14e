/**
 * The contract that every sandbox provider meets. Paths are virtual (`/mnt/user-data/…`);
 * translation to the host is the provider's business. Failures are thrown as `AppError` whose message holds virtual
 * paths only and is fit for the model.
 */

/** The most entries that one listing returns: it bounds memory where a directory holds millions of files. */
export const LIST_DIRECTORY_LIMIT = 10_000;

/** The largest file that is read into memory as a whole, in bytes. */
export const READ_LIMIT_BYTES = 104_857_600;

export interface CommandOptions {
  /** Variables for this command only; they never appear in the command text. */
  env?: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
}

/** What every operation takes: a signal that ends it early with the signal's reason. */
export interface OperationOptions {
  signal?: AbortSignal;
}

export interface WriteOptions extends OperationOptions {
  append: boolean;
  /**
   * SHA-256 that the file must have just before it is replaced (null: it must not exist). Where it differs, nothing is
   * written and the error's code is `precondition_failed`.
   */
  expectedSha256?: string | null;
}

export interface GlobOptions extends OperationOptions {
  includeDirectories: boolean;
  maxResults: number;
}

export interface GrepOptions extends OperationOptions {
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
  /** Standard output, standard error and exit status merged into one text. */
  executeCommand(command: string, options: CommandOptions): Promise<string>;
  /** The whole file as text. Throws for missing files, directories and files that are not UTF-8. */
  readFile(path: string, options?: OperationOptions): Promise<string>;
  /** Writes atomically (temporary file, then rename) and creates parent directories. */
  writeFile(path: string, text: string, options: WriteOptions): Promise<void>;
  /** Raw bytes of a file, or null where it does not exist. */
  readBytes(path: string, options?: OperationOptions): Promise<Buffer | null>;
  /** Where a path really leads once links are followed, as a virtual path; null where it does not exist. */
  resolvePath(path: string, options?: OperationOptions): Promise<string | null>;
  /** Sorted virtual paths, directories with a closing `/`; at most `LIST_DIRECTORY_LIMIT` of them. */
  listDirectory(path: string, maxDepth: number, options?: OperationOptions): Promise<string[]>;
  glob(path: string, pattern: string, options: GlobOptions): Promise<{ paths: string[]; truncated: boolean }>;
  grep(path: string, pattern: string, options: GrepOptions): Promise<{ matches: GrepMatch[]; truncated: boolean }>;
  /** Runs `action` while no other action holds the same path, so that a check and the write after it stay together. */
  exclusively<T>(path: string, action: () => Promise<T>): Promise<T>;
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

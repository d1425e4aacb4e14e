/**
 * What a tool is. A tool does not touch the database: what it wants stored goes back in its outcome, and the activity
 * that runs it stores it.
 */
import type { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts';
import type { Config } from '../contracts/schemas/config';
import type { Sandbox } from '../sandbox/sandbox';

/**
 * What running a tool again would do.
 * - `none`: it only reads; it is repeated after a crash.
 * - `file-write`: it changes one file. Before it starts, `planWrite` names the content hash before and after, so that
 *   after a crash the file itself tells whether the write happened.
 * - `unknown`: it may have any effect. It is never repeated: an interrupted call is reported as unknown.
 */
export type ToolEffect = 'none' | 'file-write' | 'unknown';

/** Where a tool runs: `quick` tools take milliseconds and run beside the workflow; others are activities of their own. */
export type ToolPace = 'quick' | 'slow';

/** Where tools report what operators should see. */
export interface ToolLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface ToolContext {
  runId: string;
  threadId: string;
  owner: string;
  toolCallId: string;
  config: Config;
  signal: AbortSignal;
  /** The thread's sandbox, created on first use. */
  sandbox(): Promise<Sandbox>;
  /** SHA-256 of the file when the model last read it in this conversation, by normalised path (read before write). */
  readMark(path: string): string | undefined;
  /** Names of the tools that this run offers, for error texts. */
  toolNames: readonly string[];
}

export interface ToolOutcome {
  /** What the model reads. */
  content: string;
  status: 'success' | 'error';
  additionalKwargs?: JsonObject;
  artifact?: JsonValue;
  /** Virtual paths added to the thread's `artifacts`. */
  presented?: string[];
}

/** SHA-256 (hex) of a file before and after a write; `before` is null where the file does not exist. */
export interface WritePlan {
  path: string;
  before: string | null;
  after: string;
}

export interface Tool<Schema extends z.ZodObject = z.ZodObject> {
  name: string;
  description: string;
  schema: Schema;
  effect: ToolEffect;
  pace: ToolPace;
  /** Longest time one call may take, in milliseconds. */
  timeoutMs(config: Config): number;
  /** For `file-write` tools: what the call would do, or null where nothing would change or the call would be refused. */
  planWrite?(args: z.output<Schema>, context: ToolContext): Promise<WritePlan | null>;
  execute(args: z.output<Schema>, context: ToolContext): Promise<ToolOutcome>;
}

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createToolRegistry,
  invokeTool,
  planToolWrite,
  type ToolContext,
  type ToolOutcome,
  type ToolRegistry,
} from '../../../tools';
import type { JsonObject } from '../../../contracts';
import type { Sandbox } from '../../../sandbox';
import { createFixture, never, type FixtureOptions, type SandboxFixture } from '../sandbox/support';

export const WORKSPACE = '/mnt/user-data/workspace';
export const OUTPUTS = '/mnt/user-data/outputs';

export interface ToolFixture {
  files: SandboxFixture;
  registry: ToolRegistry;
  context: ToolContext;
  logged: object[];
  /** Calls a tool by name as the loop does, and remembers what it read. */
  call(name: string, args: JsonObject, changes?: Partial<ToolContext>): Promise<ToolOutcome>;
  plan(name: string, args: JsonObject): ReturnType<typeof planToolWrite>;
  put(name: string, content: string | Buffer): Promise<void>;
  get(name: string): Promise<string>;
  close(): Promise<void>;
}

export interface ToolFixtureOptions extends FixtureOptions {
  writeLimitBytes?: () => number | null;
  wrapSandbox?: (sandbox: Sandbox) => Sandbox;
}

/** The tools of a run over a real sandbox. */
export async function createToolFixture(options: ToolFixtureOptions = {}): Promise<ToolFixture> {
  const files = await createFixture(options);
  const logged: object[] = [];
  const registry = createToolRegistry({
    config: files.config,
    commandsAllowed: files.provider.commandsAllowed,
    writeLimitBytes: options.writeLimitBytes,
    log: { info: (fields) => logged.push(fields), warn: (fields) => logged.push(fields) },
  });
  const marks = new Map<string, string>();
  const sandbox = options.wrapSandbox?.(files.sandbox) ?? files.sandbox;
  const context: ToolContext = {
    runId: 'run-1',
    threadId: 'thread-1',
    owner: 'alice',
    toolCallId: 'call-1',
    config: files.config,
    signal: never,
    sandbox: async () => sandbox,
    readMark: (path) => marks.get(path),
    toolNames: registry.names,
  };
  const tool = (name: string) => {
    const found = registry.find(name);
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  };
  return {
    files,
    registry,
    context,
    logged,
    async call(name, args, changes = {}) {
      const outcome = await invokeTool(tool(name), args, { ...context, ...changes });
      const mark = outcome.additionalKwargs?.deerflow_read_mark as { path: string; hash: string } | undefined;
      if (mark) marks.set(mark.path, mark.hash);
      return outcome;
    },
    plan: (name, args) => planToolWrite(tool(name), args, context),
    put: (name, content) => writeFile(join(files.directories.workspace, name), content),
    get: (name) => readFile(join(files.directories.workspace, name), 'utf8'),
    close: () => files.close(),
  };
}

/** Which tools a run offers, from the configuration and from what the sandbox allows. */
import type { JsonObject } from '../contracts';
import type { Config, ToolConfig } from '../contracts/schemas/config';
import { createBashTool } from './builtin/bash';
import { globTool } from './builtin/glob';
import { grepTool } from './builtin/grep';
import { WRITE_LIMIT_BYTES } from './builtin/limits';
import { lsTool } from './builtin/ls';
import { presentFilesTool } from './builtin/present-files';
import { readFileTool } from './builtin/read-file';
import { strReplaceTool } from './builtin/str-replace';
import { createWriteFileTool } from './builtin/write-file';
import type { Tool, ToolLog } from './tool';
import { argumentsSchema } from './validate-arguments';

export interface ToolRegistryOptions {
  config: Config;
  /** Whether the sandbox provider runs commands at all. */
  commandsAllowed: boolean;
  /** Largest content of one `write_file` call, asked for at each call; null for none. */
  writeLimitBytes?: () => number | null;
  log?: ToolLog;
}

/** An entry of `tools[]` that offers nothing here, and why. */
export interface InactiveTool {
  name: string;
  use: string;
  reason: string;
}

export interface ToolRegistry {
  readonly tools: readonly Tool[];
  readonly names: readonly string[];
  /** The tools as a model provider is told about them; the same for every call, so made once. */
  readonly definitions: readonly ToolDeclaration[];
  readonly inactive: readonly InactiveTool[];
  find(name: string): Tool | undefined;
}

/** A tool as a model provider is told about it. */
export interface ToolDeclaration {
  name: string;
  description: string;
  parameters: JsonObject;
}

const silent: ToolLog = { info: () => undefined, warn: () => undefined };
const SANDBOX_TOOL = /^deerflow\.sandbox\.tools:(\w+)_tool$/;

export function createToolRegistry(options: ToolRegistryOptions): ToolRegistry {
  const { config, commandsAllowed, log = silent } = options;
  const builtin = new Map(
    [
      lsTool,
      readFileTool,
      globTool,
      grepTool,
      createWriteFileTool({ limitBytes: options.writeLimitBytes ?? (() => WRITE_LIMIT_BYTES) }),
      strReplaceTool,
      createBashTool({ log }),
    ].map((tool): [string, Tool] => [tool.name, tool]),
  );
  const offered = new Map<string, Tool>();
  const inactive: InactiveTool[] = [];
  const isWithheld = (name: string) => name === 'bash' && !commandsAllowed;

  for (const entry of config.tools ?? []) {
    const tool = builtin.get(SANDBOX_TOOL.exec(entry.use)?.[1] ?? '');
    const reason = inactiveReason(entry, tool, offered, isWithheld);
    if (tool && reason === null) offered.set(tool.name, tool);
    else inactive.push({ name: entry.name, use: entry.use, reason: reason ?? 'unknown' });
    if (tool && tool.name !== entry.name) {
      log.warn({ configured: entry.name, tool: tool.name }, 'A tool goes by its own name, not by the configured one');
    }
  }
  if (config.tools === null) {
    for (const tool of builtin.values()) if (!isWithheld(tool.name)) offered.set(tool.name, tool);
  }
  offered.set(presentFilesTool.name, presentFilesTool);

  const tools = [...offered.values()];
  return {
    tools,
    names: tools.map((tool) => tool.name),
    definitions: tools.map(toToolDefinition),
    inactive,
    find: (name) => offered.get(name),
  };
}

export function toToolDefinition(tool: Tool): ToolDeclaration {
  return { name: tool.name, description: tool.description, parameters: argumentsSchema(tool) };
}

function inactiveReason(
  entry: ToolConfig,
  tool: Tool | undefined,
  offered: ReadonlyMap<string, Tool>,
  isWithheld: (name: string) => boolean,
): string | null {
  if (!tool) return `${entry.use} is not available`;
  if (isWithheld(tool.name)) return 'commands are not allowed in this sandbox';
  return offered.has(tool.name) ? 'a tool of this name is already offered' : null;
}

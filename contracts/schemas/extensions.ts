/** `extensions_config.json`: MCP servers, which skills are on, and code that is added to the agent. */
import { z } from 'zod';

const MAX_PRIORITY = 100;
const ROLES = ['submit_tool', 'status_tool', 'cancel_tool'] as const;

/** A hint for the model, not a rule. The only part whose unknown keys are refused: a misspelt hint does nothing. */
const routingSchema = z.strictObject({
  mode: z.enum(['off', 'prefer']).default('off'),
  priority: z
    .int()
    .default(0)
    .transform((value) => Math.min(Math.max(value, 0), MAX_PRIORITY)),
  keywords: z.array(z.string()).default([]),
});

const taskToolsetSchema = z.looseObject({
  name: z.string().min(1),
  submit_tool: z.string().min(1),
  status_tool: z.string().min(1),
  cancel_tool: z.string().min(1),
});

const serverFields = z.looseObject({
  enabled: z.boolean().default(true),
  type: z.enum(['stdio', 'sse', 'http']).default('stdio'),
  command: z.string().nullish(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  url: z.string().nullish(),
  headers: z.record(z.string(), z.string()).default({}),
  oauth: z.looseObject({}).nullish(),
  description: z.string().default(''),
  tool_name_prefix: z.boolean().default(true),
  /** Seconds; null for no limit of its own. */
  tool_call_timeout: z.number().positive().nullable().default(null),
  /** Seconds; null for no limit. */
  session_init_timeout: z.number().positive().nullable().default(60),
  routing: routingSchema.prefault({}),
  /** By the name that the server gives a tool. */
  tools: z.record(z.string(), z.looseObject({ routing: routingSchema.optional() })).default({}),
  task_toolsets: z.array(taskToolsetSchema).default([]),
});

export const mcpServerSchema = z.preprocess(withType, serverFields).superRefine((server, context) => {
  const taken = new Set<string>();
  server.task_toolsets.forEach((toolset, index) => {
    for (const role of ROLES) {
      const name = toolset[role];
      const path = ['task_toolsets', index, role];
      if (taken.has(name)) context.addIssue({ code: 'custom', path, message: 'a tool has one role in one toolset' });
      taken.add(name);
    }
  });
});

/** `transport` is another name for `type`. */
function withType(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'type' in value) return value;
  return 'transport' in value ? { ...value, type: value.transport } : value;
}

export const extensionsSchema = z.looseObject({
  mcpServers: z.record(z.string(), mcpServerSchema).default({}),
  skills: z.record(z.string(), z.looseObject({ enabled: z.boolean().default(true) })).default({}),
  middlewares: z.array(z.unknown()).default([]),
  mcpInterceptors: z.union([z.string().transform((one) => [one]), z.array(z.unknown())]).default([]),
});

export type Extensions = z.output<typeof extensionsSchema>;

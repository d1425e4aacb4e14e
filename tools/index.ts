/**
 * The tools that a model may call: what they are called, what they take, what they do. Tools work through the sandbox
 * and hand back what they want stored; this folder must not know the database or the workflow.
 */
export { parseWriteLimit } from './builtin/limits';
export { invokeTool, planToolWrite, unknownToolOutcome, withToolMeta } from './invoke-tool';
export { HARD_CEILING_CHARS } from './output-budget';
export { createToolRegistry, toToolDefinition } from './registry';
export type { InactiveTool, ToolDeclaration, ToolRegistry, ToolRegistryOptions } from './registry';
export type { ToolMeta } from './tool-meta';
export type { Tool, ToolContext, ToolEffect, ToolLog, ToolOutcome, ToolPace, WritePlan } from './tool';

/**
 * DeerFlow's `config.yaml`, every key with its type, range and default. What has no effect here yet is listed in
 * `config/inactive-keys.ts`, what takes effect only after a restart in `config/restart-keys.ts`.
 */
import { z } from 'zod';
import * as delegation from './config/delegation';
import * as deployment from './config/deployment';
import { anything, orDefault } from './config/fields';
import { modelConfigSchema, toolConfigSchema } from './config/models';
import * as policies from './config/policies';
import * as sandbox from './config/sandbox';

export const configSchema = z.strictObject({
  config_version: orDefault(z.int().default(0).catch(0)),
  log_level: orDefault(z.string().default('info')),
  logging: deployment.loggingSchema,
  plugins: orDefault(delegation.pluginsSchema),
  token_usage: policies.tokenUsageSchema,
  token_budget: policies.tokenBudgetSchema,
  recursion_limit: orDefault(z.int().min(1).default(100)),
  max_recursion_limit: orDefault(z.int().min(1).default(1000)),
  lead_prompt_overlay: policies.leadPromptOverlaySchema,
  models: orDefault(z.array(modelConfigSchema).default([])),
  tool_groups: orDefault(z.array(z.looseObject({ name: z.string().min(1) })).default([])),
  tools: orDefault(z.array(toolConfigSchema).nullable().default(null)),
  tool_search: policies.toolSearchSchema,
  tool_output: sandbox.toolOutputSchema,
  suggestions: policies.suggestionsSchema,
  input_polish: policies.inputPolishSchema,
  loop_detection: policies.loopDetectionSchema,
  tool_progress: policies.toolProgressSchema,
  read_before_write: policies.readBeforeWriteSchema,
  safety_finish_reason: policies.safetyFinishReasonSchema,
  uploads: sandbox.uploadsSchema,
  sandbox: sandbox.sandboxSchema,
  subagents: delegation.subagentsSchema,
  acp_agents: orDefault(delegation.acpAgentsSchema),
  skills: sandbox.skillsSchema,
  skill_scan: policies.skillScanSchema,
  skill_evolution: policies.skillEvolutionSchema,
  title: policies.titleSchema,
  summarization: policies.summarizationSchema,
  memory: delegation.memorySchema,
  agents_api: policies.agentsApiSchema,
  checkpointer: deployment.checkpointerSchema,
  database: deployment.databaseSchema,
  dedupe_storage: deployment.dedupeStorageSchema,
  run_events: deployment.runEventsSchema,
  agent_storage: deployment.agentStorageSchema,
  stream_bridge: deployment.streamBridgeSchema,
  run_ownership: deployment.runOwnershipSchema,
  scheduler: delegation.schedulerSchema,
  mcp_tasks: delegation.mcpTasksSchema,
  subagent_runtime: delegation.subagentRuntimeSchema,
  subagent_batches: orDefault(delegation.subagentBatchesSchema),
  verification: policies.verificationSchema,
  knowledge_base: policies.knowledgeBaseSchema,
  blob_storage: sandbox.blobStorageSchema,
  guardrails: policies.guardrailsSchema,
  authorization: policies.authorizationSchema,
  circuit_breaker: policies.circuitBreakerSchema,
  llm_call: policies.llmCallSchema,
  runs: policies.runsSchema,
  auth: deployment.authSchema,
  channel_connections: deployment.channelConnectionsSchema,
  channels: deployment.channelsSchema,
  deployment: deployment.deploymentSchema,
  /** Parts of `extensions_config.json` that are set here win over that file. */
  extensions: orDefault(anything.default({})),
});

export type Config = z.output<typeof configSchema>;

export { CONNECTED_CHANNELS } from './config/deployment';
export { INACTIVE_KEYS } from './config/inactive-keys';
export type { ModelConfig, ReasoningContract, RequestAdmission, ToolConfig } from './config/models';
export { RESTART_KEYS } from './config/restart-keys';

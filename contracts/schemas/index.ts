/**
 * Zod schemas of the wire and of the configuration file. Parsed once, at the edge; workflows never import this folder.
 */
import { managedModelRequestSchema } from './managed-models';
import { mcpServerRequestSchema, mcpServersRequestSchema, mcpToggleRequestSchema } from './mcp-config';
import { runCreateRequestSchema } from './run-request';
import {
  checkpointStateRequestSchema,
  editRegenerateRequestSchema,
  regenerateRequestSchema,
  threadBranchRequestSchema,
  threadCountRequestSchema,
  threadCreateRequestSchema,
  threadHistoryRequestSchema,
  threadPatchRequestSchema,
  threadSearchRequestSchema,
  threadStateUpdateRequestSchema,
} from './threads';

/** Request bodies by the names that the OpenAPI document gives them. */
export const schemas = {
  RunCreateRequest: runCreateRequestSchema,
  ThreadCreateRequest: threadCreateRequestSchema,
  ThreadSearchRequest: threadSearchRequestSchema,
  ThreadCountRequest: threadCountRequestSchema,
  ThreadPatchRequest: threadPatchRequestSchema,
  ThreadStateUpdateRequest: threadStateUpdateRequestSchema,
  ThreadHistoryRequest: threadHistoryRequestSchema,
  CheckpointStateRequest: checkpointStateRequestSchema,
  ThreadBranchRequest: threadBranchRequestSchema,
  RegenerateRequest: regenerateRequestSchema,
  EditRegenerateRequest: editRegenerateRequestSchema,
  ManagedModelRequest: managedModelRequestSchema,
  McpServersRequest: mcpServersRequestSchema,
  McpServerRequest: mcpServerRequestSchema,
  McpToggleRequest: mcpToggleRequestSchema,
} as const;

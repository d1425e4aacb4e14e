/** Requests that change the MCP servers of `extensions_config.json`. */
import { z } from 'zod';
import { mcpServerSchema } from './extensions';

/** A server as it is written: without defaults, and with references to variables. */
export type WrittenServer = Readonly<Record<string, unknown>>;
export type WrittenServers = Readonly<Record<string, WrittenServer>>;

const name = z.string().min(1);

export const mcpServersRequestSchema = z.object({ mcp_servers: z.record(name, mcpServerSchema) });
export const mcpServerRequestSchema = z.object({ server_name: name, server: mcpServerSchema });
export const mcpToggleRequestSchema = z.object({ server_name: name, enabled: z.boolean() });

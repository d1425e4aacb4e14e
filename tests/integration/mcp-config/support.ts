import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiHarness } from '../../support/api-harness';

export type Server = Record<string, unknown>;
export type Servers = Record<string, Server>;

/** What tests do with the extensions file of an API and with the routes over it. */
export function createMcpClient(api: () => ApiHarness) {
  const path = () => join(api().home, 'extensions_config.json');
  const file = async () => JSON.parse(await readFile(path(), 'utf8')) as { mcpServers: Servers };
  return {
    path,
    file,
    stored: async () => (await file()).mcpServers,
    store: (mcpServers: Servers, more: object = {}) => writeFile(path(), JSON.stringify({ mcpServers, ...more })),
    get: () => api().request('GET', '/api/mcp/config'),
    put: (mcp_servers: unknown) => api().request('PUT', '/api/mcp/config', { mcp_servers }),
    toggle: (server_name: string, enabled: boolean) =>
      api().request('PATCH', '/api/mcp/config', { server_name, enabled }),
    add: (mcp_servers: unknown) => api().request('POST', '/api/mcp/config/servers', { mcp_servers }),
    replace: (server_name: string, server: unknown) =>
      api().request('PUT', '/api/mcp/config/server', { server_name, server }),
    remove: (name: string) => api().request('DELETE', `/api/mcp/config/servers/${encodeURIComponent(name)}`),
  };
}

export function serversOf(answer: { body: unknown }): Servers {
  return (answer.body as { mcp_servers: Servers }).mcp_servers;
}

export function detailOf(answer: { body: unknown }): unknown {
  return (answer.body as { detail: unknown }).detail;
}

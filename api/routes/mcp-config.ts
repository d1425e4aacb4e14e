import type { Response } from 'express';
import { Router } from 'express';
import type { ApiDependencies } from '../dependencies';
import { forAdministrators } from '../http/administrators';
import { disconnectSignal } from '../http/disconnect-signal';
import { handler, pathParameter } from '../http/handler';
import type { ServersChange } from '../mcp/change-servers';
import { createServerChanges } from '../mcp/change-servers';
import { createMcpServers } from '../mcp/mcp-servers';
import { parseServer, parseServers, parseToggle } from '../mcp/parse-mcp-request';

/** The MCP servers of `extensions_config.json`. Agents do not use them yet; what is kept here is for when they do. */
export function createMcpConfigRouter(deps: Pick<ApiDependencies, 'extensions' | 'settings' | 'shutdown'>): Router {
  const router = Router();
  const servers = createMcpServers(deps.extensions);
  const changes = createServerChanges(deps.settings.mcpCommands);

  async function answer(response: Response, change: ServersChange): Promise<void> {
    const signal = AbortSignal.any([deps.shutdown, disconnectSignal(response)]);
    response.json(await servers.change(change, signal));
  }

  router.use('/mcp', forAdministrators('Admin privileges required to manage MCP configuration.'));
  router.get(
    '/mcp/config',
    handler((_request, response) => void response.json(servers.view())),
  );
  router.put(
    '/mcp/config',
    handler((request, response) => answer(response, changes.replaceAll(parseServers(request, response)))),
  );
  router.patch(
    '/mcp/config',
    handler((request, response) => {
      const { name, enabled } = parseToggle(request);
      return answer(response, changes.toggle(name, enabled));
    }),
  );
  router.post(
    '/mcp/config/servers',
    handler((request, response) => answer(response, changes.add(parseServers(request, response)))),
  );
  router.put(
    '/mcp/config/server',
    handler((request, response) => {
      const { name, server } = parseServer(request, response);
      return answer(response, changes.replace(name, server));
    }),
  );
  router.delete(
    '/mcp/config/servers/:name',
    handler((request, response) => answer(response, changes.remove(pathParameter(request, 'name')))),
  );
  router.post(
    '/mcp/cache/reset',
    handler((_request, response) => {
      const message = 'No tools of MCP servers are kept: there is nothing to reset. The file is read at each request.';
      response.json({ success: true, message });
    }),
  );
  return router;
}

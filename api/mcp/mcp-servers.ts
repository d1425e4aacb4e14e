import type { LiveExtensions } from '../../config';
import { AppError } from '../../contracts';
import type { WrittenServers } from '../../contracts/schemas/mcp-config';
import type { ServersChange } from './change-servers';
import { viewServers } from './view-servers';

const KEY = 'mcpServers';

/** The MCP servers of the extensions file, as administrators see and change them. */
export function createMcpServers(extensions: LiveExtensions) {
  const view = () => ({ mcp_servers: viewServers(extensions.current().mcpServers, serversOf(extensions.written())) });
  return {
    view,
    /** @returns The view after the change. */
    async change(change: ServersChange, signal: AbortSignal) {
      if (extensions.isOverridden(KEY)) {
        const remedy = 'change them there, or remove them there to keep them in the extensions file';
        throw new AppError('conflict', `config.yaml sets extensions.${KEY}, which wins over the file; ${remedy}.`);
      }
      await extensions.update((document) => ({ ...document, [KEY]: change(serversOf(document)) }), signal);
      return view();
    },
  };
}

function serversOf(document: Readonly<Record<string, unknown>>): WrittenServers {
  return (document[KEY] ?? {}) as WrittenServers;
}

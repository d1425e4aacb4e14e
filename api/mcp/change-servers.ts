/** Changes of the section `mcpServers`, from what is stored to what shall be stored. */
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../contracts';
import type { WrittenServer, WrittenServers } from '../../contracts/schemas/mcp-config';
import { requireSafeLaunch, transportOf } from './launch-policy';
import { withStoredSecrets } from './secrets';

/** @throws AppError `bad_request`, `not_found` or `conflict`. */
export type ServersChange = (stored: WrittenServers) => WrittenServers;

/** What a request says of a server as a whole: left out means none. All else stays as it is where it is left out. */
const REPLACED = new Set('enabled type transport command args env url headers oauth description'.split(' '));

/** @param allowed Programs that may be started beside the usual ones. */
export function createServerChanges(allowed: readonly string[]) {
  function merged(name: string, sent: WrittenServer, stored: WrittenServer | undefined): WrittenServer {
    const kept = Object.entries(stored ?? {}).filter(([key]) => !REPLACED.has(key) && !(key in sent));
    const server = { ...Object.fromEntries(kept), ...withStoredSecrets(sent, stored, name) };
    if (startsMore(server, stored)) requireSafeLaunch(name, server, allowed);
    return server;
  }

  return {
    replaceAll:
      (sent: WrittenServers): ServersChange =>
      (stored) =>
        Object.fromEntries(
          Object.entries(sent).map(([name, server]) => [name, merged(name, server, own(stored, name))]),
        ),

    add:
      (sent: WrittenServers): ServersChange =>
      (stored) => {
        const taken = Object.keys(sent).find((name) => own(stored, name) !== undefined);
        if (taken !== undefined) throw new AppError('conflict', `MCP server '${taken}' already exists`);
        const added = Object.entries(sent).map(([name, server]) => [name, merged(name, server, undefined)] as const);
        return { ...stored, ...Object.fromEntries(added) };
      },

    replace:
      (name: string, sent: WrittenServer): ServersChange =>
      (stored) => ({ ...stored, [name]: merged(name, sent, existing(stored, name)) }),

    remove:
      (name: string): ServersChange =>
      (stored) => {
        existing(stored, name);
        return Object.fromEntries(Object.entries(stored).filter(([key]) => key !== name));
      },

    toggle:
      (name: string, enabled: boolean): ServersChange =>
      (stored) => {
        const server = existing(stored, name);
        if (enabled) requireSafeLaunch(name, server, allowed);
        return { ...stored, [name]: { ...server, enabled } };
      },
  };
}

/** What the file's owner wrote may stay and be switched off, whatever it starts. */
function startsMore(server: WrittenServer, stored: WrittenServer | undefined): boolean {
  if (stored === undefined || !isDeepStrictEqual(launchOf(server), launchOf(stored))) return true;
  return server['enabled'] !== false && stored['enabled'] === false;
}

function launchOf(server: WrittenServer): unknown[] {
  return [transportOf(server), server['command'] ?? null, server['args'] ?? [], server['env'] ?? {}];
}

function existing(stored: WrittenServers, name: string): WrittenServer {
  const server = own(stored, name);
  if (server === undefined) throw new AppError('not_found', `MCP server '${name}' not found`);
  return server;
}

function own(stored: WrittenServers, name: string): WrittenServer | undefined {
  return Object.hasOwn(stored, name) ? stored[name] : undefined;
}

import type { Request, Response } from 'express';
import {
  mcpServerRequestSchema,
  mcpServersRequestSchema,
  mcpToggleRequestSchema,
} from '../../contracts/schemas/mcp-config';
import type { WrittenServer, WrittenServers } from '../../contracts/schemas/mcp-config';
import { bodyAsSent } from '../http/body';
import type { RequestFault } from '../http/validation';
import { RequestValidationError, parse } from '../http/validation';

/** Path of `body.mcp_servers`: below it are servers, and any part of a server may be a key. */
const DEPTH_OF_SERVERS = 2;

// What is returned is what was sent, not what the schema made of it: a server that leaves something out is told from
// one that asks for the default, and unknown keys stay.

export function parseServers(request: Request, response: Response): WrittenServers {
  return (checkedBody(mcpServersRequestSchema, request, response) as { mcp_servers: WrittenServers }).mcp_servers;
}

export function parseServer(request: Request, response: Response): { name: string; server: WrittenServer } {
  const body = checkedBody(mcpServerRequestSchema, request, response);
  const { server_name: name, server } = body as { server_name: string; server: WrittenServer };
  return { name, server };
}

export function parseToggle(request: Request): { name: string; enabled: boolean } {
  const { server_name: name, enabled } = parse(mcpToggleRequestSchema, request.body, 'body');
  return { name, enabled };
}

function checkedBody(schema: Parameters<typeof parse>[0], request: Request, response: Response): unknown {
  const body = bodyAsSent(request, response);
  try {
    parse(schema, body, 'body');
    return body;
  } catch (error) {
    if (!(error instanceof RequestValidationError)) throw error;
    throw new RequestValidationError(error.faults.map(withoutKeys));
  }
}

function withoutKeys(fault: RequestFault): RequestFault {
  const isPlain = fault.loc.length <= DEPTH_OF_SERVERS && (fault.input === null || typeof fault.input !== 'object');
  return isPlain ? fault : { ...fault, input: undefined };
}

import type { Operation } from '../operation';
import { errors, json } from '../operation';

const COMMON = { 403: 'For administrators' };
const CHANGING = {
  ...COMMON,
  400: 'A mask without a stored value, or a command that is not allowed',
  409: '`config.yaml` sets the servers itself',
  503: 'The extensions file cannot be changed as it is',
};
const ALL = json('All servers, their secrets masked', 'McpConfig');
const NO_SUCH = { 404: 'No such server' };

/** The servers are kept for later: agents do not use them yet. */
export const MCP_OPERATIONS: Operation[] = [
  {
    method: 'get',
    path: '/api/mcp/config',
    summary: 'MCP servers of the extensions file; agents do not use them yet',
    responses: { 200: ALL, ...errors(COMMON) },
  },
  {
    method: 'put',
    path: '/api/mcp/config',
    summary: 'Replaces all MCP servers',
    description: '`***` keeps a stored secret; for OAuth secrets null does, and empty text removes them.',
    body: 'McpServersRequest',
    responses: { 200: ALL, ...errors(CHANGING) },
  },
  {
    method: 'patch',
    path: '/api/mcp/config',
    summary: 'Switches one MCP server on or off',
    body: 'McpToggleRequest',
    responses: { 200: ALL, ...errors({ ...CHANGING, ...NO_SUCH }) },
  },
  {
    method: 'post',
    path: '/api/mcp/config/servers',
    summary: 'Adds MCP servers',
    body: 'McpServersRequest',
    responses: {
      200: ALL,
      ...errors({ ...CHANGING, 409: 'A name is taken, or `config.yaml` sets the servers itself' }),
    },
  },
  {
    method: 'put',
    path: '/api/mcp/config/server',
    summary: 'Replaces one MCP server',
    body: 'McpServerRequest',
    responses: { 200: ALL, ...errors({ ...CHANGING, ...NO_SUCH }) },
  },
  {
    method: 'delete',
    path: '/api/mcp/config/servers/{name}',
    summary: 'Removes one MCP server',
    responses: { 200: ALL, ...errors({ ...CHANGING, ...NO_SUCH }) },
  },
  {
    method: 'post',
    path: '/api/mcp/cache/reset',
    summary: 'Forgets tools of MCP servers; none are kept',
    responses: { 200: json('That nothing is kept', 'Success'), ...errors(COMMON) },
  },
];

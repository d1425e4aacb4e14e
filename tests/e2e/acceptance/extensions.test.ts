import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../contracts';
import type { ApiClient, Product } from '../../support/product';
import { createApiClient, startProduct } from '../../support/product';
import { until } from '../durability/support';

const FAULT = 'the extensions file cannot be used';
const REDIS_PASSWORD = 'password-of-the-broker';

let folder: string;
let file: string;
let provisioner: Server;
let product: Product;
let processes: ApiClient[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deer-flow-extensions-'));
  file = join(folder, 'extensions_config.json');
  await write({ first: server(1) });
  provisioner = createServer((_request, response) => void response.end('{}'));
  await new Promise<void>((resolve) => provisioner.listen(0, '127.0.0.1', resolve));
  const { port } = provisioner.address() as AddressInfo;
  product = await startProduct({
    workers: 0,
    apis: 2,
    config: {
      sandbox: { use: 'deerflow.sandbox.local:LocalSandboxProvider', provisioner_url: `http://127.0.0.1:${port}` },
      stream_bridge: { type: 'redis', redis_url: `redis://:${REDIS_PASSWORD}@127.0.0.1:9/0` },
    },
    env: {
      DEER_FLOW_EXTENSIONS_CONFIG_PATH: file,
      DEER_FLOW_MCP_STDIO_COMMAND_ALLOWLIST: 'my-server, other',
      // Nothing listens there.
      HTTP_PROXY: 'http://127.0.0.1:9',
      NODE_USE_ENV_PROXY: '1',
    },
  });
  processes = product.apis.map(({ url }) => createApiClient(() => url));
}, 120_000);
afterAll(async () => {
  await product.close();
  await new Promise((resolve) => provisioner.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const server = (number: number) => ({ type: 'http', url: `https://mcp.example.com/${number}` });
const text = (mcpServers: JsonObject) => JSON.stringify({ mcpServers, skills: { mine: { enabled: false } } });
const write = (mcpServers: JsonObject) => writeFile(file, text(mcpServers));

async function names(api: ApiClient): Promise<string[]> {
  const { body } = await api.request<{ mcp_servers: JsonObject }>('GET', '/api/mcp/config');
  return Object.keys(body.mcp_servers);
}

const listed = () => Promise.all(processes.map(names));
const faults = () => product.apis.map(({ output }) => output.split(FAULT).length - 1);

test('while only a part of the file is there all processes list what they had, and each says so once', async () => {
  await write({ first: server(1) });
  expect(await listed()).toEqual([['first'], ['first']]);
  const whole = text({ first: server(1), second: server(2) });
  await writeFile(file, whole.slice(0, whole.length / 2));
  for (let request = 0; request < 4; request += 1) expect(await listed()).toEqual([['first'], ['first']]);
  await until(() => faults().every((count) => count > 0), 'the warning in both logs');

  await writeFile(file, whole);
  expect(await listed()).toEqual([
    ['first', 'second'],
    ['first', 'second'],
  ]);
  expect(faults()).toEqual([1, 1]);
});

test('what is changed over one process is in the next answer of the other', async () => {
  const [one, other] = processes as [ApiClient, ApiClient];
  await write({ first: server(1) });
  for (const [writer, reader, name] of [
    [one, other, 'a'],
    [other, one, 'b'],
  ] as const) {
    const { status } = await writer.request('POST', '/api/mcp/config/servers', { mcp_servers: { [name]: server(3) } });
    expect([status, await names(reader)]).toEqual([200, expect.arrayContaining(['first', name])]);
  }
  await one.request('PATCH', '/api/mcp/config', { server_name: 'first', enabled: false });
  const { body } = await other.request('GET', '/api/mcp/config');
  expect(body).toMatchObject({ mcp_servers: { first: { enabled: false } } });
});

test('processes that change the file at the same moment lose nothing of each other, and nothing else of the file', async () => {
  await write({});
  const [one, other] = processes as [ApiClient, ApiClient];
  const writes = Array.from({ length: 10 }, (_, index) =>
    (index % 2 === 0 ? one : other).request('POST', '/api/mcp/config/servers', {
      mcp_servers: { [`s${index}`]: server(index) },
    }),
  );
  expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 200));
  const [first, second] = await listed();
  expect(first).toHaveLength(10);
  expect(second).toEqual(first);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ skills: { mine: { enabled: false } } });
});

test('programs that the operator allows may be started, and no others', async () => {
  const [api] = processes as [ApiClient];
  const put = (command: string) => api.request('PUT', '/api/mcp/config', { mcp_servers: { s: { command } } });
  expect((await put('my-server')).status).toBe(200);
  const refused = await put('bash');
  expect([refused.status, refused.body]).toEqual([
    400,
    { detail: expect.stringContaining('Allowed commands: my-server, npx, other, uvx.') },
  ]);
});

test('a section of config.yaml wins over the file from the next request on, and gives way again', async () => {
  const [api] = processes as [ApiClient];
  const path = join(product.home, 'config.yaml');
  const before = await readFile(path, 'utf8');
  await write({ first: server(1) });
  await writeFile(
    path,
    `${before}\nextensions: { mcpServers: { fixed: { type: http, url: https://mcp.example.com } } }\n`,
  );
  await until(async () => (await names(api)).join() === 'fixed', 'the section', 1_000);
  expect((await api.request('PUT', '/api/mcp/config', { mcp_servers: {} })).status).toBe(409);
  await writeFile(path, before);
  await until(async () => (await names(api)).join() === 'first', 'the file again', 1_000);
});

test('a process does not start with a file that is wrong, and says what is', async () => {
  await write({ first: server(1) });
  expect(await listed()).toEqual([['first'], ['first']]);
  await write({ first: { type: 'pigeon' } });
  await expect(product.startApi()).rejects.toThrow('extensions_config.json: mcpServers.first.type');
  expect(await listed()).toEqual([['first'], ['first']]);
});

test('readiness asks the provisioner past any proxy, and tells of streams where they really are', async () => {
  for (const api of processes) {
    const { status, body } = await api.request('GET', '/health/ready');
    expect([status, body]).toEqual([200, expect.objectContaining({ provisioner: 'ok', stream_bridge: 'ok' })]);
  }
  for (const { output } of product.apis) {
    expect(output).toContain('stream_bridge.redis_url');
    expect(output).not.toContain(REDIS_PASSWORD);
  }
});

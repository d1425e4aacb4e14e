import { createServer, type Server } from 'node:net';
import { AppError } from '../../../contracts';
import { parseStackOptions } from '../../../workers/stack/options';
import { chooseStackPorts, withReplaceablePorts, type StackPorts } from '../../../workers/stack/stack-ports';
import type { RunningProcess } from '../../../workers/stack/launch';

const RUNNING: RunningProcess = { pid: 0, exited: new Promise(() => undefined), stop: async () => undefined };
const never = new AbortController().signal;
let strangers: Server[] = [];

afterEach(() => {
  for (const server of strangers) server.close();
  strangers = [];
});

async function occupy(port: number): Promise<void> {
  const server = createServer();
  strangers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

async function portsFor(argv: string[] = []): Promise<StackPorts> {
  const progress = { step: () => undefined, warn: () => undefined };
  return chooseStackPorts(parseStackOptions({ argv, env: {}, cwd: '/' }), progress);
}

/** A service that finds its port taken by somebody who came between. */
function overtaken(ports: StackPorts, times: number) {
  const tried: number[] = [];
  const service = {
    name: 'Example',
    async start() {
      tried.push(ports.postgres);
      if (tried.length <= times) {
        await occupy(ports.postgres);
        throw new AppError('unavailable', 'The address is in use.');
      }
      return RUNNING;
    },
  };
  return { tried, service: withReplaceablePorts(service, ports, ['postgres']) };
}

test('a port that somebody takes between its choice and its use is replaced', async () => {
  const { tried, service } = overtaken(await portsFor(), 2);
  expect(await service.start(never)).toBe(RUNNING);
  expect(new Set(tried).size).toBe(3);
});

test('a service that ran keeps its port, because others know it by that', async () => {
  const ports = await portsFor();
  const port = ports.postgres;
  let fails = false;
  const start = async () => {
    if (fails) throw new AppError('unavailable', 'The address is in use.');
    return RUNNING;
  };
  const service = withReplaceablePorts({ name: 'Example', start }, ports, ['postgres']);
  await service.start(never);
  await occupy(port);
  fails = true;
  await expect(service.start(never)).rejects.toThrow('The address is in use.');
  expect(ports.postgres).toBe(port);
});

test('a failure that is not about the port is told at once', async () => {
  const ports = await portsFor();
  let attempts = 0;
  const start = async () => {
    attempts += 1;
    throw new AppError('unavailable', 'The disk is full.');
  };
  const service = withReplaceablePorts({ name: 'Example', start }, ports, ['postgres']);
  await expect(service.start(never)).rejects.toThrow('The disk is full.');
  expect(attempts).toBe(1);
});

test('a port that the user named is never replaced', async () => {
  const { postgres: free } = await portsFor();
  const ports = await portsFor(['--port', String(free)]);
  await occupy(free);
  const start = async () => {
    throw new AppError('unavailable', 'The address is in use.');
  };
  const service = withReplaceablePorts({ name: 'Example', start }, ports, ['api']);
  await expect(service.start(never)).rejects.toThrow(`Port ${free} (the API) is taken by another program`);
});

test('a port that a stranger had only for a moment is tried once more', async () => {
  const ports = await portsFor();
  const port = ports.postgres;
  let attempts = 0;
  const start = async () => {
    attempts += 1;
    if (attempts === 1) throw new AppError('unavailable', `Port ${port} on 127.0.0.1 is taken: choose another`);
    return RUNNING;
  };
  expect(await withReplaceablePorts({ name: 'Example', start }, ports, ['postgres']).start(never)).toBe(RUNNING);
  expect([attempts, ports.postgres]).toEqual([2, port]);
});

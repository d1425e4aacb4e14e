/** Local TCP ports: whether one is free, and free ones that do not collide with each other. */
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { AppError } from '../../contracts';

const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const PORT_ATTEMPTS = 20;

export interface PortWish {
  /** A port that the user named: taken means an error, never another port. */
  named?: number;
  /** Tried first when the user named none. */
  preferred?: number;
  host?: string;
  /** How messages call it. */
  purpose: string;
  /** How the user can name another. */
  remedy: string;
}

/** Chooses one port per wish. All are held until the last is chosen, so that no two are equal. */
export async function choosePorts(wishes: readonly PortWish[]): Promise<number[]> {
  const held: Server[] = [];
  try {
    const ports: number[] = [];
    for (const wish of wishes) {
      const server = await holdPort(wish);
      held.push(server);
      ports.push(portOf(server));
    }
    return ports;
  } finally {
    await Promise.all(held.map(release));
  }
}

export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = await tryListen(port, host);
  if (!server) return false;
  await release(server);
  return true;
}

async function holdPort(wish: PortWish): Promise<Server> {
  const host = wish.host ?? '127.0.0.1';
  if (wish.named !== undefined) {
    const server = await tryListen(wish.named, host);
    if (server) return server;
    throw new AppError(
      'conflict',
      `Port ${wish.named} (${wish.purpose}) is taken by another program. Stop that program, or ${wish.remedy}.`,
    );
  }
  const server = (wish.preferred !== undefined && (await tryListen(wish.preferred, host))) || (await holdAnyPort(host));
  if (!server) throw new AppError('unavailable', `No free port was found for ${wish.purpose}.`);
  return server;
}

/**
 * A port from below the range that systems take the near ends of connections from: one of those may be taken by any
 * connection between our choice and the start of the server.
 */
async function holdAnyPort(host: string): Promise<Server | undefined> {
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt += 1) {
    const server = await tryListen(randomInt(LOWEST_PORT, HIGHEST_PORT), host);
    if (server) return server;
  }
  return tryListen(0, host);
}

/** Undefined where the port is taken or may not be used. */
function tryListen(port: number, host: string): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

function release(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

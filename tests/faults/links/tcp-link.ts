/** A TCP proxy between two processes, whose connections can be slow, silent, cut or refused. */
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fate } from './points';

/** Looks at what passes in one connection, in both directions. */
export interface Inspector {
  fromClient(chunk: Buffer): Inspected;
  fromServer(chunk: Buffer): Inspected;
}

/** What goes on now, and what must wait for a decision. */
export interface Inspected {
  bytes: Buffer;
  held?: { bytes: Buffer; fate: Promise<Fate> };
}

export interface TcpLink {
  readonly port: number;
  readonly connections: number;
  /** Each piece of data in either direction is late by half of this. */
  latencyMs: number;
  /** New connections are reset at once. */
  refusing: boolean;
  /** Connections stay, and nothing passes. */
  silent: boolean;
  /** Resets every connection. */
  cut(): void;
  close(): Promise<void>;
}

export interface TcpLinkOptions {
  targetPort: () => number;
  inspect?: () => Inspector;
}

type Settings = Pick<TcpLink, 'latencyMs' | 'refusing' | 'silent'>;

const SILENCE_POLL_MS = 50;
const MAX_WAITING_BYTES = 1024 * 1024;

export async function startTcpLink({ targetPort, inspect }: TcpLinkOptions): Promise<TcpLink> {
  const settings: Settings = { latencyMs: 0, refusing: false, silent: false };
  const pairs = new Set<() => void>();
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => undefined);
    if (settings.refusing) return void client.resetAndDestroy();
    const upstream = connect({ port: targetPort(), host: '127.0.0.1', noDelay: true });
    const end = (): void => {
      pairs.delete(cut);
      client.destroySoon();
      upstream.destroySoon();
    };
    const cut = (): void => {
      reset(client);
      reset(upstream);
      end();
    };
    pairs.add(cut);
    const inspector = inspect?.();
    const onward = lane(client, upstream, settings, inspector && ((chunk) => inspector.fromClient(chunk)), cut);
    const back = lane(upstream, client, settings, inspector && ((chunk) => inspector.fromServer(chunk)), cut);
    onward.finished.then(end, cut);
    back.finished.then(end, cut);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const link = Object.assign(settings, {
    port: (server.address() as AddressInfo).port,
    cut: () => pairs.forEach((cut) => cut()),
    async close() {
      link.cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
  return Object.defineProperty(link, 'connections', { get: () => pairs.size }) as TcpLink;
}

/** Only what is open can be reset: Node keeps the handle of a socket whose reset fails. */
function reset(socket: Socket): void {
  if (!socket.destroyed && socket.readyState === 'open') socket.resetAndDestroy();
}

/** One direction of one connection. Finished when the source has ended and everything of it was handed on. */
function lane(
  source: Socket,
  target: Socket,
  settings: Settings,
  inspect: ((chunk: Buffer) => Inspected) | undefined,
  cut: () => void,
): { finished: Promise<void> } {
  const queue: Array<{ chunk: Buffer; due: number }> = [];
  let waiting = 0;
  let ended = false;
  let wake: () => void = () => undefined;
  source.on('data', (chunk: Buffer) => {
    queue.push({ chunk, due: Date.now() + settings.latencyMs / 2 });
    waiting += chunk.length;
    if (waiting > MAX_WAITING_BYTES) source.pause();
    wake();
  });
  const end = (): void => {
    ended = true;
    wake();
  };
  for (const event of ['end', 'close', 'error']) source.on(event, end);
  target.on('close', end);

  const write = async (bytes: Buffer): Promise<void> => {
    if (bytes.length === 0 || target.destroyed || target.write(bytes)) return;
    await new Promise<void>((resolve) => {
      target.once('drain', resolve);
      target.once('close', resolve);
    });
  };
  const finished = (async () => {
    for (;;) {
      const next = queue.shift();
      if (next === undefined) {
        if (ended) return;
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      while (settings.silent && !target.destroyed) await delay(SILENCE_POLL_MS);
      if (next.due > Date.now()) await delay(next.due - Date.now());
      const { bytes, held } = inspect?.(next.chunk) ?? { bytes: next.chunk };
      await write(bytes);
      if (held !== undefined) {
        if ((await held.fate) === 'cut') return cut();
        await write(held.bytes);
      }
      waiting -= next.chunk.length;
      if (source.isPaused() && waiting < MAX_WAITING_BYTES) source.resume();
    }
  })();
  return { finished };
}

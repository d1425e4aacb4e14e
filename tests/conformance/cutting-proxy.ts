import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

export interface CuttingProxy {
  readonly url: string;
  /** How often it has cut a connection. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** A TCP proxy that destroys the first connection which carries an event stream, after so many bytes of the stream. */
export async function startCuttingProxy(target: string, afterBytes: number): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cuts = 0;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Whatever ends one side ends the other.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => (socket === client ? upstream : client).destroy());
    }
    client.pipe(upstream);
    let streamed = -1;
    upstream.on('data', (chunk: Buffer) => {
      if (streamed < 0 && chunk.includes('text/event-stream')) streamed = 0;
      if (cuts > 0 || streamed < 0) return void client.write(chunk);
      const left = afterBytes - streamed;
      streamed += chunk.length;
      if (streamed <= afterBytes) return void client.write(chunk);
      cuts += 1;
      client.write(chunk.subarray(0, left), () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

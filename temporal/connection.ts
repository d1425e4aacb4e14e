import { Client, Connection } from '@temporalio/client';

export interface TemporalOptions {
  address: string;
  namespace: string;
}

export interface TemporalAccess {
  client: Client;
  connection: Connection;
  /** Whether the server answers within the time-out. */
  isReachable(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

const CALL_TIMEOUT_MS = 10_000;

/**
 * A client that connects when it is first used, so that a process can start while the server is away. Compression is
 * off: the server is on this machine or in the same network, and payloads are small.
 */
export function openTemporal(options: TemporalOptions): TemporalAccess {
  const connection = Connection.lazy({
    address: options.address,
    channelArgs: {
      'grpc.default_compression_algorithm': 0,
      // A proxy for the web would be asked for this machine, too.
      ...(isLoopback(options.address) ? { 'grpc.enable_http_proxy': 0 } : {}),
    },
  });
  const client = new Client({ connection, namespace: options.namespace });
  return {
    client,
    connection,
    async isReachable(timeoutMs) {
      try {
        await connection.withDeadline(Date.now() + timeoutMs, () =>
          connection.workflowService.describeNamespace({ namespace: options.namespace }),
        );
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}

function isLoopback(address: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(address);
}

/** Bounds the calls made in `work`, which otherwise wait for the server for ever. */
export function withCallTimeout<T>(access: TemporalAccess, work: () => Promise<T>): Promise<T> {
  return access.client.withDeadline(Date.now() + CALL_TIMEOUT_MS, work);
}

/** A scripted provider over real HTTP: each request takes the next answer, whatever the provider's wire is. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProviderRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface ProviderAnswer {
  status?: number;
  headers?: Record<string, string>;
  contentType?: string;
  /** Written one after the other. */
  parts: readonly string[];
  /** Written again and again after the parts, until the connection is closed. */
  forever?: string;
  /** Called when the parts are written. */
  onSent?: () => void;
  /** Says nothing more after the parts, and keeps the connection. */
  hang?: boolean;
  /** Destroys the connection after the parts. */
  cut?: boolean;
}

export interface ScriptedServer {
  readonly url: string;
  readonly requests: ProviderRequest[];
  script(...answers: ProviderAnswer[]): void;
  close(): Promise<void>;
}

export interface ScriptedServerOptions {
  /** What the provider documents of a request: one that breaks it is answered with 400 and takes no answer. */
  faults?: (body: Record<string, unknown>) => string[];
}

export async function startScriptedServer({ faults }: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const requests: ProviderRequest[] = [];
  let answers: ProviderAnswer[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const bytes: Buffer[] = [];
      for await (const part of request as AsyncIterable<Buffer>) bytes.push(part);
      const body = JSON.parse(Buffer.concat(bytes).toString('utf8') || '{}') as Record<string, unknown>;
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      const answer = refusal(faults?.(body)) ?? answers.shift() ?? failure(500, 'nothing is scripted');
      response.writeHead(answer.status ?? 200, {
        'content-type': answer.contentType ?? 'application/json',
        ...answer.headers,
      });
      for (const part of answer.parts) {
        response.write(part);
        await delay(1);
      }
      answer.onSent?.();
      while (answer.forever !== undefined && !response.destroyed) {
        response.write(answer.forever);
        await delay(5);
      }
      if (answer.cut) setImmediate(() => response.socket?.destroy());
      else if (!answer.hang) response.end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...next) => void (answers = [...next]),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Every provider that is scripted here puts an error under this name. */
function failure(status: number, message: string): ProviderAnswer {
  return { status, parts: [JSON.stringify({ error: { code: status, type: 'invalid_request_error', message } })] };
}

function refusal(faults: readonly string[] = []): ProviderAnswer | null {
  return faults.length === 0 ? null : failure(400, faults.join('; '));
}

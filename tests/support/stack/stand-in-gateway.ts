/** An API that answers one conversation from a script: what is tested is the client. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface SeenRequest {
  method: string;
  path: string;
  body: string;
  headers: IncomingMessage['headers'];
}

export interface StandInGateway {
  url: string;
  requests: SeenRequest[];
  /** The status that the run record gives. */
  finish(status: string): void;
  close(): Promise<void>;
}

/** What a stream request gets: frames in order, and then a clean end, a cut, or nothing until the run is stopped. */
export interface StreamScript {
  frames: string[];
  then: 'end' | 'cut' | 'hang';
}

export async function startStandInGateway(streams: StreamScript[]): Promise<StandInGateway> {
  const requests: SeenRequest[] = [];
  const hanging: ServerResponse[] = [];
  let status = 'running';
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const path = request.url ?? '';
      requests.push({ method: request.method ?? '', path, body, headers: request.headers });
      if (/\/runs\/stream$|\/runs\/run-1\/stream/.test(path)) {
        const script = streams.shift() ?? { frames: ['event: end\ndata: null\n\n'], then: 'end' };
        response.writeHead(200, {
          'content-type': 'text/event-stream',
          'content-location': '/api/threads/thread-1/runs/run-1',
        });
        for (const frame of script.frames) response.write(frame);
        if (script.then === 'hang') hanging.push(response);
        else if (script.then === 'cut') setTimeout(() => response.destroy(), 50);
        else {
          status = status === 'running' ? 'success' : status;
          response.end();
        }
        return;
      }
      if (path.includes('/cancel')) {
        status = 'interrupted';
        for (const stream of hanging) stream.end('event: end\ndata: null\n\n');
        response.writeHead(204).end();
        return;
      }
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answerTo(path, status)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    finish: (next) => void (status = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerTo(path: string, status: string): unknown {
  if (path === '/health') return { status: 'healthy' };
  if (path.endsWith('/uploads')) {
    return { files: [{ filename: 'notes.txt', size: 5, virtual_path: '/mnt/user-data/uploads/notes.txt' }] };
  }
  if (path.endsWith('/state')) return { values: { messages: [{ id: 'm9', type: 'ai', content: 'From the state.' }] } };
  if (path.includes('/runs/')) {
    return { run_id: 'run-1', status, total_tokens: 42, error: status === 'error' ? { message: 'No credit.' } : null };
  }
  return { thread_id: 'thread-1' };
}

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
    request.on('end', () => resolve(body));
  });
}

let counter = 0;

export function frame(event: string, data: unknown): string {
  counter += 1;
  return `event: ${event}\ndata: ${JSON.stringify(data)}\nid: 1700000000000-${counter}\n\n`;
}

export function chunk(id: string, content: string): string {
  return frame('messages', [{ type: 'AIMessageChunk', id, content }, {}]);
}

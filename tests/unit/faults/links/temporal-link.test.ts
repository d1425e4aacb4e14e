import { once } from 'node:events';
import type { ClientHttp2Session, Http2Server, IncomingHttpHeaders } from 'node:http2';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Points } from '../../../faults/links/points';
import { createPoints } from '../../../faults/links/points';
import type { TcpLink } from '../../../faults/links/tcp-link';
import { startTemporalLink } from '../../../faults/links/temporal-link';

const SERVICE = '/temporal.api.workflowservice.v1.WorkflowService';

let server: Http2Server;
let points: Points;
let link: TcpLink;
let client: ClientHttp2Session;
let calls: string[];

beforeEach(async () => {
  calls = [];
  server = createServer();
  server.on('stream', (stream, headers) => {
    const method = String(headers[':path']).split('/').at(-1) ?? '';
    calls.push(method);
    stream.on('error', () => undefined);
    if (method === 'Refused') {
      stream.respond({ ':status': 200, 'grpc-status': '5', 'grpc-message': 'not found' }, { endStream: true });
      return;
    }
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.concat(parts));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  points = createPoints('worker-1');
  link = await startTemporalLink(() => port, points);
  client = connect(`http://127.0.0.1:${link.port}`);
  client.on('error', () => undefined);
});
afterEach(async () => {
  client.destroy();
  await link.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

interface Heard {
  headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
  body: string;
}

/** Null where the call broke off. */
async function call(method: string, body = ''): Promise<Heard | null> {
  const request = client.request({ ':path': `${SERVICE}/${method}`, ':method': 'POST', te: 'trailers' });
  request.on('error', () => undefined);
  request.end(body);
  const heard: Heard = { headers: {}, trailers: {}, body: '' };
  let answered = false;
  request.on('response', (headers) => {
    answered = true;
    heard.headers = headers;
  });
  request.on('trailers', (trailers) => (heard.trailers = trailers));
  request.on('data', (part: Buffer) => (heard.body += part.toString()));
  await once(request, 'close').catch(() => undefined);
  return answered ? heard : null;
}

describe('a line to Temporal', () => {
  it('hands on calls with their bodies and trailers, many at once', async () => {
    const large = 'x'.repeat(300_000);
    const heard = await Promise.all(Array.from({ length: 20 }, (_, index) => call('Echo', `${index} ${large}`)));
    heard.forEach((one, index) => {
      expect(one?.body).toBe(`${index} ${large}`);
      expect(one?.trailers['grpc-status']).toBe('0');
    });
  });

  it('hands on a refusal, which has no body', async () => {
    const heard = await call('Refused');
    expect(heard?.headers).toMatchObject({ 'grpc-status': '5', 'grpc-message': 'not found' });
  });

  it('holds a call before the server knows of it; when it is cut, the server never does', async () => {
    const trap = points.arm({ operation: 'temporal:RespondWorkflowTaskCompleted', moment: 'before' });
    const answer = call('RespondWorkflowTaskCompleted', 'done');
    await trap.reached;
    await delay(50);
    expect(calls).toEqual([]);
    trap.cut();
    await expect(answer).resolves.toBeNull();
    expect(calls).toEqual([]);
  });

  it('holds an answer that the server has given; other calls go on meanwhile', async () => {
    const trap = points.arm({ operation: 'temporal:StartWorkflowExecution', moment: 'after' });
    const answer = call('StartWorkflowExecution', 'start');
    await trap.reached;
    expect(calls).toEqual(['StartWorkflowExecution']);
    expect((await call('Echo', 'meanwhile'))?.body).toBe('meanwhile');
    trap.pass();
    expect((await answer)?.body).toBe('start');
  });

  it('does not take an answer to a poll without a task for one with a task', async () => {
    const trap = points.arm({ operation: 'temporal:PollActivityTaskQueue', moment: 'after' });
    expect(await call('PollActivityTaskQueue', '')).not.toBeNull();
    const answer = call('PollActivityTaskQueue', 'task '.repeat(100));
    await trap.reached;
    trap.pass();
    await answer;
  });

  it('breaks calls off when it is cut', async () => {
    const trap = points.arm({ operation: 'temporal:Echo', moment: 'before' });
    const answer = call('Echo', 'lost');
    await trap.reached;
    link.cut();
    await expect(answer).resolves.toBeNull();
    trap.pass();
  });
});

import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { RunRecord } from '../../../contracts';
import { fail, hang, say } from '../../support/fake-model';
import { until, useProduct } from './scenario';

interface Delivery {
  at: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Notes what it is posted, and answers with the statuses it is given, then with 200. */
class Receiver {
  readonly deliveries: Delivery[] = [];
  statuses: number[] = [];
  private readonly server: Server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      this.deliveries.push({ at: Date.now(), headers: request.headers, text });
      response.writeHead(this.statuses.shift() ?? 200).end();
    });
  });

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook?for=test`;
  }

  of(runId: string): Delivery[] {
    return this.deliveries.filter(({ headers }) => headers['idempotency-key'] === runId);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const receiver = new Receiver();
beforeAll(() => receiver.listen());
afterAll(() => receiver.close());

const QUIET_MS = 400;
const quiet = () => new Promise((resolve) => setTimeout(resolve, QUIET_MS));

describe('a webhook', () => {
  const used = useProduct({ config: { runs: { webhook_allow_private_addresses: true } } });
  const { api, script, run, start } = used;

  test('is told once, after the end, of the run as clients read it, and is signed', async () => {
    script(say('done'));
    const threadId = await api.newThread();
    const ended = await run(threadId, 'go', { webhook: receiver.url });
    await until(() => receiver.of(ended.run_id).length > 0, 'the delivery');
    await quiet();
    const [delivery, ...more] = receiver.of(ended.run_id);
    expect(more).toEqual([]);
    expect(JSON.parse(delivery?.text ?? '')).toEqual(ended);
    expect(delivery?.headers['content-type']).toContain('application/json');
    const key = createHmac('sha256', await deploymentKey())
      .update('webhook')
      .digest();
    const signature = createHmac('sha256', key)
      .update(delivery?.text ?? '')
      .digest('hex');
    expect(delivery?.headers['x-deerflow-signature']).toBe(`sha256=${signature}`);
  });

  async function deploymentKey(): Promise<Buffer> {
    return Buffer.from(await readFile(join(used.product.home, '.deployment-key'), 'utf8'), 'hex');
  }

  test('is told of failures and cancels too', async () => {
    script(fail(503));
    const threadId = await api.newThread();
    const failed = await run(threadId, 'go', { webhook: receiver.url });
    await until(() => receiver.of(failed.run_id).length > 0, 'the delivery of the failure');
    expect(JSON.parse(receiver.of(failed.run_id)[0]?.text ?? '')).toMatchObject({
      status: 'error',
      error: { code: 'model_unavailable' },
    });
    script(hang(60_000));
    const cancelled = await start(threadId, 'go', { webhook: receiver.url });
    await used.model.waitForRequests(used.model.requests.length + 1);
    await api.request('POST', `/api/threads/${threadId}/runs/${cancelled.run_id}/cancel`);
    await until(() => receiver.of(cancelled.run_id).length > 0, 'the delivery of the cancel');
    expect(JSON.parse(receiver.of(cancelled.run_id)[0]?.text ?? '')).toMatchObject({ status: 'interrupted' });
  });

  test('that does not take it is told again, with the same key, while the thread is free for the next run', async () => {
    script(say('done'), say('next'));
    receiver.statuses = [500];
    const threadId = await api.newThread();
    const ended = await run(threadId, 'go', { webhook: receiver.url });
    expect((await run(threadId, 'next')).status).toBe('success');
    await until(() => receiver.of(ended.run_id).length > 1, 'the second delivery');
    const [first, second] = receiver.of(ended.run_id);
    expect(second?.text).toBe(first?.text);
    const again = await used.get<RunRecord>(`/api/threads/${threadId}/runs/${ended.run_id}`);
    expect(again.status).toBe('success');
  });
});

describe('a webhook on a private address, unless the operator allows it', () => {
  const used = useProduct();
  const { api, script, run } = used;

  test('is never called, and the run ends all the same', async () => {
    script(say('done'));
    const threadId = await api.newThread();
    const ended = await run(threadId, 'go', { webhook: receiver.url });
    expect(ended.status).toBe('success');
    await until(
      () => used.product.workers[0]?.output.includes('is not a public address') ?? false,
      'a word about it in the log',
    );
    expect(receiver.of(ended.run_id)).toEqual([]);
  });
});

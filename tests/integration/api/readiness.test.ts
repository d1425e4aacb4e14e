import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startApiHarness } from '../../support/api-harness';

async function readiness(config: Record<string, unknown>) {
  const api = await startApiHarness({ config });
  try {
    const { status, body } = await api.request('GET', '/health/ready');
    return { code: status, ...(body as Record<string, unknown>) };
  } finally {
    await api.close();
  }
}

describe('a provisioner that is configured', () => {
  async function withProvisioner(answer: RequestListener, path = '') {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      return await readiness({ sandbox: { provisioner_url: `http://127.0.0.1:${port}${path}` } });
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  it.each(['', '/', '/base/'])('is asked at its own health route: %j', async (path) => {
    const asked: unknown[] = [];
    const ready = await withProvisioner((request, response) => {
      asked.push(request.url);
      response.end('{"status":"ok"}');
    }, path);
    expect(ready).toMatchObject({ code: 200, status: 'ready', provisioner: 'ok' });
    expect(asked).toEqual([`${path.replace(/\/$/, '')}/health`]);
  });

  it.each<[string, RequestListener]>([
    ['refuses', (_request, response) => void response.writeHead(503).end()],
    ['leads elsewhere', (_request, response) => void response.writeHead(302, { location: '/other' }).end()],
    ['breaks off', (request) => void request.socket.destroy()],
    ['never answers', () => undefined],
  ])('and %s is told, and takes no instance out of service', async (_, answer) => {
    expect(await withProvisioner(answer)).toMatchObject({ code: 200, status: 'ready', provisioner: 'unreachable' });
  });

  it.each(['http://127.0.0.1:9', 'not an address'])('and cannot be reached at %s is told the same way', async (url) => {
    expect(await readiness({ sandbox: { provisioner_url: url } })).toMatchObject({
      code: 200,
      provisioner: 'unreachable',
    });
  });
});

it('a broker that is configured and away keeps nobody out of service: streams do not go through it', async () => {
  const config = { stream_bridge: { type: 'redis', redis_url: 'redis://127.0.0.1:9/0' } };
  expect(await readiness(config)).toMatchObject({ code: 200, status: 'ready', stream_bridge: 'ok' });
});

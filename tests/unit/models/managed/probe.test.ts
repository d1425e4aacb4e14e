import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { configSchema } from '../../../../contracts/schemas/config';
import { managedModelRecordSchema } from '../../../../contracts/schemas/managed-models';
import { probeManagedModel } from '../../../../models/managed/probe';
import { createLogger } from '../../../../observability';
import { call, cut, fail, hang, raw, say, stall, startFakeModel } from '../../../support/fake-model';
import type { FakeModel, Step } from '../../../support/fake-model';

const KEY = 'sk-probe-0123456789';
const opened: Array<{ close(): Promise<void> }> = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

async function fakeModel(...script: Step[]): Promise<FakeModel> {
  const model = await startFakeModel();
  model.script('default', script);
  opened.push(model);
  return model;
}

function probe(record: object, limits: object = {}) {
  const lines: string[] = [];
  const log = createLogger({ name: 'test', destination: { write: (line) => void lines.push(line) } });
  const parsed = managedModelRecordSchema.parse({ name: 'm', model: 'gpt-x', api_key: KEY, revision: 'r', ...record });
  const options = { record: parsed, config: configSchema.parse({}), log, signal: new AbortController().signal, limits };
  return { lines, result: probeManagedModel(options) };
}

const custom = ({ baseUrl }: FakeModel) => ({ base_url: baseUrl });

describe('a test of a managed model', () => {
  it('passes when the model calls the tool, asked for in one short streamed request', async () => {
    const model = await fakeModel(call('connection_check', {}));
    expect(await probe(custom(model)).result).toEqual({ ok: true, message: 'success' });
    expect(model.requests).toHaveLength(1);
    const { body, headers } = model.requests[0] ?? { body: {}, headers: {} };
    expect(body).toMatchObject({
      model: 'gpt-x',
      stream: true,
      max_tokens: 32,
      tool_choice: { type: 'function', function: { name: 'connection_check' } },
      tools: [{ type: 'function', function: { name: 'connection_check' } }],
    });
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}` });
  });

  it('leaves the choice to a model that must think, and gives it room for that', async () => {
    const model = await fakeModel(call('connection_check', {}));
    const { result } = probe({ ...custom(model), reasoning: { thinking: 'required', dialect: 'none' } });
    expect(await result).toEqual({ ok: true, message: 'success' });
    const { body } = model.requests[0] ?? {};
    expect(body).toMatchObject({ max_tokens: 2048 });
    expect(body).not.toHaveProperty('tool_choice');
  });

  it.each([
    ['text instead of a call', say('Hello'), 'tool_call_missing'],
    ['a call of another tool', call('other', {}), 'tool_call_missing'],
    ['a call with arguments', call('connection_check', { a: 1 }), 'tool_call_missing'],
    ['a refused key', fail(401, { message: `bad key ${KEY}` }), 'authentication_failed'],
    ['a refused request', fail(400), 'connection_failed'],
    ['a server in trouble', fail(500), 'connection_failed'],
    ['a connection that breaks', cut(1), 'connection_failed'],
  ])('tells in one word of %s, after one attempt', async (_case, step, message) => {
    const model = await fakeModel(step);
    const { result, lines } = probe(custom(model));
    expect(await result).toEqual({ ok: false, message });
    expect(model.requests).toHaveLength(1);
    expect(lines.join()).not.toContain(KEY);
  });

  it('asks nobody where the provider needs a key and there is none', async () => {
    const { result } = probe({ provider: 'openai', api_key: null });
    expect(await result).toEqual({ ok: false, message: 'missing_api_key' });
  });

  it('never takes a key of the process for an address that needs none', async () => {
    const before = process.env['OPENAI_API_KEY'];
    process.env['OPENAI_API_KEY'] = 'sk-of-the-process';
    try {
      const model = await fakeModel(call('connection_check', {}));
      expect(await probe({ ...custom(model), api_key: null }).result).toEqual({ ok: true, message: 'success' });
      expect(JSON.stringify(model.requests)).not.toContain('sk-of-the-process');
    } finally {
      if (before === undefined) delete process.env['OPENAI_API_KEY'];
      else process.env['OPENAI_API_KEY'] = before;
    }
  });

  it.each([
    ['more than 256 pieces', 3, { characters: 1_000_000 }, 256],
    ['more than 16384 characters', 1_000, { chunks: 1_000_000 }, 16],
  ])('ends a reply of %s', async (_case, size, otherLimit, least) => {
    const server = await endlessModel('y'.repeat(size));
    expect(await probe({ base_url: server.url }, otherLimit).result).toEqual({
      ok: false,
      message: 'output_limit_exceeded',
    });
    expect(server.sent()).toBeGreaterThan(least);
    expect(server.sent()).toBeLessThan(2_000);
  });

  it('that ran out of output is told from one that did not call', async () => {
    const model = await fakeModel(raw({ content: 'I will', finish: 'length' }));
    expect(await probe(custom(model)).result).toEqual({ ok: false, message: 'output_limit_exceeded' });
  });

  it('that was used up by thinking is output that ran out too', async () => {
    const model = await fakeModel(raw({ content: '', finish: 'length' }));
    expect(await probe(custom(model)).result).toEqual({ ok: false, message: 'output_limit_exceeded' });
  });

  it('ends when the provider falls silent in the middle', async () => {
    const model = await fakeModel(stall(1));
    const begun = Date.now();
    const { result } = probe(custom(model), { callSeconds: 0.2 });
    expect(await result).toEqual({ ok: false, message: 'connection_failed' });
    expect(Date.now() - begun).toBeLessThan(2_000);
  });

  it('ends when the time is over, whether nothing comes or something comes for ever', async () => {
    const silent = await fakeModel(hang(5_000));
    expect(await probe(custom(silent), { overallMs: 200 }).result).toEqual({ ok: false, message: 'connection_failed' });
    const slow = await endlessModel('y', 20);
    const begun = Date.now();
    const { result } = probe({ base_url: slow.url }, { overallMs: 300 });
    expect(await result).toEqual({ ok: false, message: 'connection_failed' });
    expect(Date.now() - begun).toBeLessThan(2_000);
  });
});

/** A model that never ends its reply. */
async function endlessModel(text: string, everyMs = 0) {
  let sent = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: text } }] };
    const send = (): void => {
      if (response.destroyed) return;
      sent += 1;
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      setTimeout(send, everyMs);
    };
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, sent: () => sent };
}

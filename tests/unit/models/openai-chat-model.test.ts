import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { failureDetail } from '../../../models';
import {
  body,
  call,
  calls,
  cut,
  cutJson,
  emptyChoices,
  errorInStream,
  fail,
  hang,
  raw,
  say,
  stall,
  startFakeModel,
} from '../../support/fake-model';
import type { FakeModel, Step } from '../../support/fake-model';
import { assistant, failureOf, human, modelAt, newCall, TOOL, toolResult } from './support';

let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.requests.length = 0;
  fake.violations.length = 0;
});

function reply(step: Step, entry: object = {}, stallSeconds = 5) {
  fake.script('default', [step]);
  const made = newCall();
  return { ...made, reply: modelAt(fake.baseUrl, entry, stallSeconds).reply(made.request) };
}

describe('a reply', () => {
  it('arrives in parts that add up to the whole, with tokens and finish reason', async () => {
    const { reply: pending, deltas } = reply(say('Hello dear  reader', { usage: [7, 3], reasoning: 'hm' }));
    const whole = await pending;
    expect(whole).toEqual({
      content: 'Hello dear  reader',
      toolCalls: [],
      usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      finishReason: 'stop',
      additionalKwargs: { reasoning_content: 'hm' },
      responseMetadata: { model_provider: 'openai', finish_reason: 'stop', model_name: 'lead' },
    });
    expect(deltas[0]).toEqual({ content: '', toolCallChunks: [], additionalKwargs: { reasoning_content: 'hm' } });
    expect(deltas.map((delta) => delta.content).join('')).toBe('Hello dear  reader');
    expect(deltas.length).toBe(4);
  });

  it('carries several tool calls, each part with the index of its call', async () => {
    const { reply: pending, deltas } = reply(
      calls([
        { tool: 'ls', args: { path: '/a' }, id: 'c1' },
        { tool: 'ls', args: { path: '/b' }, id: 'c2' },
      ]),
    );
    expect((await pending).toolCalls).toEqual([
      { id: 'c1', name: 'ls', args: '{"path":"/a"}' },
      { id: 'c2', name: 'ls', args: '{"path":"/b"}' },
    ]);
    expect(deltas.flatMap((delta) => delta.toolCallChunks)).toEqual([
      { index: 0, id: 'c1', name: 'ls', args: '{"path":"/a"}' },
      { index: 1, id: 'c2', name: 'ls', args: '{"path":"/b"}' },
    ]);
  });

  it('keeps odd tool calls as they came: no id, one id twice, no JSON, no name', async () => {
    const { reply: pending } = reply(
      raw({
        toolCalls: [
          { id: '', name: 'ls', arguments: '{"path": ' },
          { id: 'x', name: 'ls', arguments: '{}' },
          { id: 'x', name: '', arguments: '' },
          { name: 'bash', arguments: '[]' },
        ],
      }),
    );
    expect((await pending).toolCalls).toEqual([
      { id: null, name: 'ls', args: '{"path": ' },
      { id: 'x', name: 'ls', args: '{}' },
      { id: 'x', name: null, args: '' },
      { id: null, name: 'bash', args: '[]' },
    ]);
  });

  it.each(['content_filter', 'SAFETY', 'refusal'])(
    'is a reply, though empty, where a filter stopped it: %s',
    async (finish) => {
      const { reply: pending } = reply(raw({ content: '', finish }));
      expect(await pending).toMatchObject({ content: '', toolCalls: [], finishReason: finish });
    },
  );

  it('needs no finish reason where the stream was ended in order', async () => {
    expect(await reply(raw({ content: 'fine', finish: null })).reply).toMatchObject({
      content: 'fine',
      finishReason: null,
    });
  });

  it('is none where the stream was ended in order within a call, and nothing says why', async () => {
    const half = [{ id: 'x', name: 'ls', arguments: '{"path": "/a' }];
    const error = await failureOf(reply(raw({ toolCalls: half, finish: null })).reply);
    expect(error).toMatchObject({ code: 'model_unavailable', options: { detail: { reason: 'transient' } } });
    const whole = [{ id: 'x', name: 'ls', arguments: '{"path": "/a"}' }];
    expect((await reply(raw({ toolCalls: whole, finish: null })).reply).toolCalls).toHaveLength(1);
  });

  it('is read from servers that answer a whole JSON body although asked to stream', async () => {
    const answer = {
      id: 'x',
      model: 'other',
      choices: [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    };
    const { reply: pending, deltas } = reply(body(JSON.stringify(answer)));
    expect(await pending).toMatchObject({ content: 'whole', usage: { total_tokens: 3 } });
    expect(deltas).toHaveLength(1);
  });

  it('slows down with its reader instead of counting the pause as silence of the model', async () => {
    fake.script('default', [say('one two three')]);
    const { request } = newCall();
    let reading = 0;
    const onDelta = async () => {
      reading += 1;
      expect(reading).toBe(1);
      await sleep(300);
      reading -= 1;
    };
    const whole = await modelAt(fake.baseUrl, {}, 0.2).reply({ ...request, onDelta });
    expect(whole.content).toBe('one two three');
  });

  it("hands the reader's own error on and hangs up", async () => {
    fake.script('default', [say('one two three four', { delayMs: 30 })]);
    const { request } = newCall();
    const broken = new Error('the database is away');
    const onDelta = () => Promise.reject(broken);
    await expect(modelAt(fake.baseUrl).reply({ ...request, onDelta })).rejects.toBe(broken);
    await waitUntil(() => fake.requests[0]?.abandoned === true);
  });
});

describe('what the provider is sent', () => {
  it('follows the rules of strict providers for a whole conversation', async () => {
    fake.script('default', [say('ok')]);
    const { request } = newCall([
      { ...human('first'), type: 'system', content: 'The date is known.' },
      human([
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        { type: 'odd' },
      ]),
      assistant(''),
      assistant('', [['c1', 'ls', { path: '/' }]]),
      toolResult('c1', 'a.txt'),
      { ...assistant('done'), additional_kwargs: { reasoning_content: 'secret thought' } },
      human('go on'),
    ]);
    await modelAt(fake.baseUrl, {
      supports_vision: true,
      temperature: 0.5,
      max_tokens: 99,
      top_p: 0.9,
      extra_body: { custom: 1 },
    }).reply(request);
    expect(fake.violations).toEqual([]);
    expect(fake.requests[0]?.headers.authorization).toBe('Bearer key-of-the-test');
    expect(fake.requests[0]?.body).toMatchObject({
      model: 'lead',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      max_tokens: 99,
      top_p: 0.9,
      custom: 1,
      tools: [{ type: 'function', function: TOOL }],
      messages: [
        { role: 'system', content: 'Be brief.\n\nThe date is known.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
            { type: 'text', text: '[content of type odd]' },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', function: { name: 'ls', arguments: '{"path":"/"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
        { role: 'assistant', content: 'done' },
        { role: 'user', content: 'go on' },
      ],
    });
    expect(JSON.stringify(fake.requests[0]?.body)).not.toContain('secret thought');
  });

  it('gives reasoning back to the servers that want it, at the right message', async () => {
    fake.script('default', [say('ok')]);
    const thinking = { ...assistant('x', [['c1', 'ls']]), additional_kwargs: { reasoning_content: 'because' } };
    const { request } = newCall([human('a'), assistant('plain'), thinking, toolResult('c1', 'r')]);
    await modelAt(fake.baseUrl, { use: 'deerflow.models.patched_mimo:PatchedChatMiMo' }).reply(request);
    const sent = fake.requests[0]?.body.messages ?? [];
    expect(sent.map((message) => 'reasoning_content' in message)).toEqual([false, false, false, true, false]);
  });

  it('answers a call whose arguments were no JSON without leaving its result alone', async () => {
    fake.script('default', [say('ok')]);
    const broken = {
      ...assistant(''),
      invalid_tool_calls: [
        { id: 'c1', name: 'ls', args: '{"pa', error: 'no JSON', type: 'invalid_tool_call' as const },
      ],
    };
    await modelAt(fake.baseUrl).reply(newCall([human('a'), broken, toolResult('c1', 'Error: no JSON')]).request);
    expect(fake.violations).toEqual([]);
  });

  it('asks for no token counts where the entry says so, and for no tools where there are none', async () => {
    fake.script('default', [say('ok')]);
    const whole = await modelAt(fake.baseUrl, { stream_usage: false }).reply(newCall([human('a')], []).request);
    expect(whole.usage).toBeNull();
    expect(fake.requests[0]?.body).not.toHaveProperty('stream_options');
    expect(fake.requests[0]?.body).not.toHaveProperty('tools');
  });
});

describe('a failed attempt', () => {
  it.each<[string, Step, string, object]>([
    ['400', fail(400), 'model_rejected', { reason: 'rejected', httpStatus: 400 }],
    ['401', fail(401), 'model_auth', { reason: 'auth', httpStatus: 401 }],
    ['402', fail(402), 'model_quota', { reason: 'quota', httpStatus: 402 }],
    ['403', fail(403), 'model_auth', { reason: 'auth', httpStatus: 403 }],
    ['404', fail(404), 'model_rejected', { reason: 'rejected', httpStatus: 404 }],
    ['408', fail(408), 'model_unavailable', { reason: 'transient', httpStatus: 408 }],
    ['409', fail(409), 'model_unavailable', { reason: 'transient', httpStatus: 409 }],
    ['413', fail(413), 'model_rejected', { reason: 'rejected', httpStatus: 413 }],
    ['422', fail(422), 'model_rejected', { reason: 'rejected', httpStatus: 422 }],
    ['425', fail(425), 'model_unavailable', { reason: 'transient', httpStatus: 425 }],
    ['429', fail(429), 'model_rate_limited', { reason: 'transient', httpStatus: 429 }],
    ['500', fail(500), 'model_unavailable', { reason: 'transient', httpStatus: 500 }],
    [
      '502 page',
      fail(502, { body: '<html><head><title>Bad gateway</title></head>' }),
      'model_unavailable',
      { httpStatus: 502 },
    ],
    ['503', fail(503), 'model_unavailable', { reason: 'transient', httpStatus: 503 }],
    ['504 without a body', fail(504, { body: '' }), 'model_unavailable', { httpStatus: 504 }],
    ['529', fail(529, { message: 'Overloaded' }), 'model_unavailable', { reason: 'transient', httpStatus: 529 }],
    ['quota by code', fail(429, { code: 'insufficient_quota', message: 'x' }), 'model_quota', { reason: 'quota' }],
    ['quota by words', fail(400, { message: 'Your credit balance is too low' }), 'model_quota', { reason: 'quota' }],
    ['key by words', fail(400, { message: 'Invalid API key' }), 'model_auth', { reason: 'auth' }],
    ['burst', fail(429, { code: 'limit_burst_rate' }), 'model_rate_limited', { reason: 'burst' }],
    ['refusal that quotes "please try"', fail(400, { message: 'bad text: please try again' }), 'model_rejected', {}],
    [
      'context too long',
      fail(400, { message: 'maximum context length', code: 'context_length_exceeded' }),
      'model_context_length',
      { reason: 'context_length' },
    ],
    ['Retry-After seconds', fail(429, { retryAfter: 7 }), 'model_rate_limited', { retryAfterMs: 7000 }],
    ['Retry-After-Ms', fail(503, { retryAfterMs: 250, retryAfter: 9 }), 'model_unavailable', { retryAfterMs: 250 }],
    ['Retry-After zero', fail(503, { retryAfter: 0 }), 'model_unavailable', { retryAfterMs: 0 }],
    ['cut before any part', cut(0), 'model_unavailable', { reason: 'transient' }],
    ['cut JSON', cutJson(), 'model_unavailable', { reason: 'transient' }],
    ['cut JSON body', body('{"id": "x", "cho'), 'model_unavailable', { reason: 'transient' }],
    ['empty body', body('', { contentType: 'text/event-stream' }), 'model_unavailable', { reason: 'transient' }],
    ['200 with error text', body('{"error":"no such model"}'), 'model_rejected', { reason: 'rejected' }],
    [
      '200 with an embedded status',
      body('{"error":{"message":"x","code":502}}'),
      'model_unavailable',
      { httpStatus: 502 },
    ],
    ['error in the stream', errorInStream(), 'model_unavailable', { reason: 'transient' }],
    ['status in the stream', errorInStream({ message: 'x', code: 429 }), 'model_rate_limited', { httpStatus: 429 }],
    ['unknown in the stream', errorInStream({ message: 'nonsense' }), 'model_rejected', { reason: 'rejected' }],
    ['no choices', emptyChoices(), 'model_empty_reply', { reason: 'empty' }],
    ['blank text', say(' \n '), 'model_empty_reply', { reason: 'empty' }],
  ])('%s', async (_, step, code, detail) => {
    const error = await failureOf(reply(step).reply);
    expect({ code: error.code, message: error.message }).toEqual({ code, message: error.message });
    expect(error.options.detail).toMatchObject(detail);
    expect(error.message.length).toBeLessThanOrEqual(500);
    expect(error.message).not.toMatch(/[<\n]/);
    expect(fake.requests).toHaveLength(1);
  });

  it('reads a Retry-After that is a date', async () => {
    const date = new Date(Date.now() + 30_000).toUTCString();
    const error = await failureOf(reply(fail(503, { retryAfter: date })).reply);
    expect(failureDetail(error)?.retryAfterMs).toBeGreaterThan(25_000);
    expect(failureDetail(error)?.retryAfterMs).toBeLessThanOrEqual(30_000);
  });

  it('says how long the provider asks to wait where that is too long', async () => {
    const error = await failureOf(reply(fail(429, { retryAfter: 300 })).reply);
    expect(error.message).toContain('asks to wait 300 seconds');
  });

  it('shows no key, password or long text of the provider', async () => {
    const message = `Bad key key-of-the-test for https://me:hush-hush@host/, Bearer abcdefghijkl ${'x'.repeat(2000)}`;
    const error = await failureOf(reply(fail(400, { message })).reply);
    expect(error.message).toContain('Bad key [redacted]');
    expect(error.message).not.toMatch(/key-of-the-test|hush|abcdefgh/);
    expect(error.message.length).toBeLessThanOrEqual(500);
  });

  it.each<[string, Step]>([
    ['before the first byte', hang(60_000)],
    ['in the middle', stall(2)],
  ])('is given up %s after the stall time, and the connection closed', async (_, step) => {
    const began = Date.now();
    const { reply: pending, deltas } = reply(step, {}, 0.3);
    const error = await failureOf(pending);
    expect(error).toMatchObject({ code: 'model_unavailable', message: 'The model sent nothing for 0.3 seconds' });
    expect(failureDetail(error)?.reason).toBe('stalled');
    expect(Date.now() - began).toBeLessThan(2000);
    expect(deltas.length).toBe(step.kind === 'hang' ? 0 : 1);
    await waitUntil(() => fake.requests[0]?.abandoned === true);
  });

  it('is not a slow reply: parts that keep coming reset the clock', async () => {
    expect((await reply(say('a b c d e f', { delayMs: 120 }), {}, 0.3).reply).content).toBe('a b c d e f');
  });

  it('ends at once when the caller stops it, with the reason of the caller', async () => {
    for (const step of [hang(60_000), stall(1)]) {
      const { reply: pending, stop } = reply(step);
      const reason = new Error('the user pressed stop');
      setTimeout(() => stop.abort(reason), 100);
      await expect(pending).rejects.toBe(reason);
      await waitUntil(() => fake.requests.at(-1)?.abandoned === true);
    }
  });

  it('does not begin for a caller that has stopped already', async () => {
    const { request, stop } = newCall();
    stop.abort(new Error('stopped'));
    await expect(modelAt(fake.baseUrl).reply(request)).rejects.toThrow('stopped');
    expect(fake.requests).toHaveLength(0);
  });

  it('keeps a reply that was complete when the connection broke', async () => {
    // Text, finish reason, then the socket is destroyed before the token counts.
    expect(await reply(cut(3, say('complete', { usage: [1, 1] }))).reply).toMatchObject({
      content: 'complete',
      usage: null,
    });
  });

  it('names the system error where nobody listens, and no address', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error = await failureOf(modelAt(`http://127.0.0.1:${port}/v1`).reply(newCall().request));
    expect(error).toMatchObject({
      code: 'model_unavailable',
      message: 'The connection to the model provider failed (ECONNREFUSED)',
      options: { detail: { reason: 'transient' } },
    });
  });

  it('counts a reply that does not begin within request_timeout as unavailable', async () => {
    const error = await failureOf(reply(hang(60_000), { request_timeout: 0.2 }).reply);
    expect(error).toMatchObject({ code: 'model_unavailable', options: { detail: { reason: 'transient' } } });
  });
});

it('leaves no listener on the signal of a long run', async () => {
  const stop = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = stop.signal;
  stop.signal.addEventListener = (...parameters: Parameters<typeof addEventListener>) => {
    listeners += 1;
    addEventListener.apply(stop.signal, parameters);
  };
  stop.signal.removeEventListener = (...parameters: Parameters<typeof removeEventListener>) => {
    listeners -= 1;
    removeEventListener.apply(stop.signal, parameters);
  };
  fake.script('default', [call('ls', { path: '/' }), fail(500, { times: 1 }), say('ok')]);
  const model = modelAt(fake.baseUrl);
  await model.reply({ ...newCall().request, signal: stop.signal });
  await failureOf(model.reply({ ...newCall().request, signal: stop.signal }));
  await model.reply({ ...newCall().request, signal: stop.signal });
  expect(listeners).toBe(0);
});

async function waitUntil(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 3000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen in time');
    await sleep(10);
  }
}

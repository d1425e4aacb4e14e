import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Message } from '../../../../contracts';
import { modelConfigSchema } from '../../../../contracts/schemas/config/models';
import { failureDetail } from '../../../../models';
import type { ToolDefinition } from '../../../../models';
import { createPatientFetch } from '../../../../models/mindie/patient-fetch';
import { mindIeTimeouts } from '../../../../models/mindie/timeouts';
import type { FakeModel, Step } from '../../../support/fake-model';
import { cut, cutJson, emptyChoices, fail, hang, raw, say, startFakeModel } from '../../../support/fake-model';
import { assistant, failureOf, human, modelAt, newCall, TOOL, toolResult } from '../support';

const USE = { use: 'deerflow.models.mindie_provider:MindIEChatModel' };

let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.requests.length = 0;
  fake.violations.length = 0;
});

interface Asked {
  tools?: ToolDefinition[];
  entry?: object;
  messages?: Message[];
}

function ask(step: Step, { tools = [TOOL], entry = {}, messages = [human('hi')] }: Asked = {}) {
  fake.script('default', [step]);
  const made = newCall(messages, tools);
  return { ...made, reply: modelAt(fake.baseUrl, { ...USE, ...entry }).reply(made.request) };
}

const written = (name: string, parameters: string) =>
  `<tool_call> <function=${name}> ${parameters} </function> </tool_call>`;

describe('a reply with tools', () => {
  it('is asked for in one piece, whatever the entry says, and given on in parts of 15 characters', async () => {
    const text = 'One sentence, a second one, and 😀😀😀 at the end of it.';
    const { reply, deltas } = ask(say(text, { usage: [7, 3] }), { entry: { streaming: true } });
    const whole = await reply;
    expect(whole).toMatchObject({ content: text, usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 } });
    expect(deltas.map(({ content }) => content).join('')).toBe(text);
    expect(deltas.map(({ content }) => Array.from(content).length)).toEqual([15, 15, 15, 8]);
    expect(fake.requests).toHaveLength(1);
    expect(fake.requests[0]?.body).toMatchObject({ stream: false, tools: [{ function: { name: 'ls' } }] });
    expect(fake.requests[0]?.body).not.toHaveProperty('stream_options');
  });

  it('has the calls that the model wrote into it, each with an id of its own', async () => {
    const one = written('write', String.raw`<parameter=data>{"c":"a\nb","d":"a\\nb"}</parameter>`);
    const two = written('bash', String.raw`<parameter=command>echo 1\necho 2</parameter>`);
    const { reply, deltas } = ask(say(String.raw`Look:\n${one}${two}\n`));
    const { content, toolCalls, finishReason } = await reply;
    expect(content).toBe('Look:');
    expect(toolCalls.map(({ name, args }) => [name, JSON.parse(args)])).toEqual([
      ['write', { data: { c: 'a\nb', d: String.raw`a\nb` } }],
      ['bash', { command: 'echo 1\necho 2' }],
    ]);
    for (const { id } of toolCalls) expect(id).toMatch(/^call_[0-9a-f]{10}$/);
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(2);
    expect(finishReason).toBe('stop');
    expect(deltas.at(-1)?.toolCallChunks).toEqual(toolCalls.map((call, index) => ({ index, ...call })));
  });

  it('keeps calls that came as such as they came, before the written ones', async () => {
    const args = String.raw`{"text":"a\\nb"}`;
    const { reply } = ask(
      raw({ content: written('ls', ''), toolCalls: [{ id: 'native', name: 'write', arguments: args }] }),
    );
    const { content, toolCalls } = await reply;
    expect(content).toBe('');
    expect(toolCalls).toEqual([
      { id: 'native', name: 'write', args },
      { id: expect.stringMatching(/^call_/), name: 'ls', args: '{}' },
    ]);
  });

  it('keeps fenced code, and a block that is no call', async () => {
    const { reply } = ask(say('a\\n```js\nlog("\\n")\n```\\n<tool_call>no</tool_call>'));
    expect((await reply).content).toBe('a\n```js\nlog("\\n")\n```\n<tool_call>no</tool_call>');
  });

  it('brings the thoughts first', async () => {
    const { reply, deltas } = ask(say('ok', { reasoning: 'hm' }));
    expect((await reply).additionalKwargs).toEqual({ reasoning_content: 'hm' });
    expect(deltas[0]).toEqual({ content: '', toolCallChunks: [], additionalKwargs: { reasoning_content: 'hm' } });
  });

  it('stops being given on when the run is stopped', async () => {
    const { request, stop, deltas } = newCall();
    fake.script('default', [say('x'.repeat(100))]);
    const reply = modelAt(fake.baseUrl, USE).reply({
      ...request,
      onDelta: (delta) => {
        deltas.push(delta);
        stop.abort();
      },
    });
    await expect(reply).rejects.toThrow();
    expect(deltas).toHaveLength(1);
  });
});

describe('a reply without tools', () => {
  it('is streamed, with newlines decoded across the parts and fenced code left alone', async () => {
    const text = 'a\\nb ```js log("\\n") ``` c\\nd';
    const { reply, deltas } = ask(say(text, { chunks: 11 }), { tools: [] });
    const { content } = await reply;
    expect(content).toBe('a\nb ```js log("\\n") ``` c\nd');
    expect(deltas.map((delta) => delta.content).join('')).toBe(content);
    expect(deltas.length).toBeGreaterThan(3);
    expect(fake.requests[0]?.body).toMatchObject({ stream: true });
  });

  it('has its last characters, even such as may begin something', async () => {
    const { reply, deltas } = ask(say('ends with \\'), { tools: [] });
    expect((await reply).content).toBe('ends with \\');
    expect(deltas.map((delta) => delta.content).join('')).toBe('ends with \\');
  });
});

it('a conversation with calls and results is sent as texts of three roles', async () => {
  const messages = [
    human('list'),
    assistant('Sure', [['c1', 'ls', { path: '/a' }]]),
    toolResult('c1', 'a.txt <b>'),
    human('thanks'),
  ];
  const { reply } = ask(say('ok'), { messages });
  await reply;
  expect(fake.violations).toEqual([]);
  expect(fake.requests[0]?.body.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'list' },
    {
      role: 'assistant',
      content: 'Sure\n<tool_call> <function=ls> <parameter=path>/a</parameter> </function> </tool_call>',
    },
    { role: 'user', content: '<tool_response>\na.txt &lt;b&gt;\n</tool_response>' },
    { role: 'user', content: 'thanks' },
  ]);
});

describe.each([
  ['with tools', [TOOL]],
  ['without tools', []],
])('a failure %s', (_title, tools) => {
  it.each([
    ['of the key', fail(401), 'model_auth', 'auth'],
    ['of an overload', fail(503), 'model_unavailable', 'transient'],
    ['of the rate', fail(429), 'model_rate_limited', 'transient'],
    ['of a broken answer', cutJson(), 'model_unavailable', 'transient'],
    ['of an answer that is cut off', cut(1), 'model_unavailable', 'transient'],
    ['of an answer without a choice', emptyChoices(), 'model_empty_reply', 'empty'],
    ['of an answer without a word', say(' '), 'model_empty_reply', 'empty'],
  ])('%s is told as that of every provider', async (_what, step, code, reason) => {
    const error = await failureOf(ask(step, { tools }).reply);
    expect(error.code).toBe(code);
    expect(failureDetail(error)?.reason).toBe(reason);
    expect(error.message).not.toContain('key-of-the-test');
  });

  it('to answer in time ends the attempt', async () => {
    const error = await failureOf(ask(hang(5_000), { tools, entry: { read_timeout: 0.2 } }).reply);
    expect(error).toMatchObject({ code: 'model_unavailable' });
    expect(error.retryable).toBe(true);
  });
});

describe('time-outs', () => {
  const entry = (more: object) => modelConfigSchema.parse({ name: 'm', model: 'm', ...USE, ...more });

  it('are 30 seconds to connect, 900 to read and 60 to write, unless the entry says otherwise', () => {
    expect(mindIeTimeouts(entry({}))).toEqual({ connectMs: 30_000, readMs: 900_000, writeMs: 60_000 });
    const own = { connect_timeout: 1, read_timeout: 2.5, write_timeout: 3, pool_timeout: 4 };
    expect(mindIeTimeouts(entry(own))).toEqual({ connectMs: 1_000, readMs: 2_500, writeMs: 3_000 });
    expect(mindIeTimeouts(entry({ ...own, timeout: 9 }))).toEqual({ connectMs: 9_000, readMs: 9_000, writeMs: 9_000 });
    expect(mindIeTimeouts(entry({ read_timeout: -1 })).readMs).toBe(900_000);
  });

  async function silentServer(): Promise<{ url: string; close(): Promise<unknown> }> {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const close = () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(resolve));
    };
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
  }

  it('end the wait for an answer, and a stop does at once', async () => {
    const server = await silentServer();
    try {
      const patient = createPatientFetch({ connectMs: 5_000, writeMs: 5_000, readMs: 50 });
      await expect(patient(server.url, { method: 'POST', body: 'x' })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
      const unhurried = createPatientFetch({ connectMs: 5_000, writeMs: 5_000, readMs: 60_000 });
      const answer = unhurried(server.url, { method: 'POST', body: 'x', signal: AbortSignal.timeout(50) });
      await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    } finally {
      await server.close();
    }
  });

  it('end a connection that nobody accepts', async () => {
    // An address of a network for documentation, which nothing answers.
    const patient = createPatientFetch({ connectMs: 50, writeMs: 50, readMs: 50 });
    await expect(patient('http://192.0.2.1:9/', { method: 'POST', body: 'x' })).rejects.toThrow();
  });
});

it('an answer without a body is one without a body', async () => {
  const server = createServer((_request, response) => void response.writeHead(204, { 'x-two': ['a', 'b'] }).end());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    const patient = createPatientFetch({ connectMs: 5_000, writeMs: 5_000, readMs: 5_000 });
    const answer = await patient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect([answer.status, answer.headers.get('x-two'), await answer.text()]).toEqual([204, 'a, b', '']);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
});

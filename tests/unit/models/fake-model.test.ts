import { call, fail, raw, say, startFakeModel } from '../../support/fake-model';
import type { FakeModel } from '../../support/fake-model';
import { planOf } from '../../support/fake-model/plan';

let fake: FakeModel;
beforeEach(async () => {
  fake = await startFakeModel();
});
afterEach(() => fake.close());

const USER = { role: 'user', content: 'hi' };
const TOOLS = [{ type: 'function', function: { name: 'ls' } }];

interface Answer {
  error?: { message: string };
  choices: Array<{
    message: { content: string; tool_calls?: Array<{ id: string; function: { name: string; arguments: string } }> };
  }>;
  usage: object;
}

async function ask(messages: object[], fields: object = {}): Promise<{ status: number; answer: Answer }> {
  const response = await fetch(`${fake.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'any', messages, ...fields }),
  });
  return { status: response.status, answer: (await response.json()) as Answer };
}

describe('scripts', () => {
  it('are followed in order, one per model name, and a request too many is told', async () => {
    fake.script('default', [say('one', { usage: [3, 4] }), call('ls', { path: '/' }, 'c1')]);
    fake.script('title', [say('A title')]);
    expect((await ask([USER])).answer).toMatchObject({
      choices: [{ message: { content: 'one' } }],
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    });
    expect((await ask([USER], { model: 'title' })).answer.choices[0]?.message.content).toBe('A title');
    expect((await ask([USER])).answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      id: 'c1',
      function: { name: 'ls' },
    });
    fake.assertClean();
    expect(fake.requestsOf('default')).toHaveLength(2);
    expect(fake.remaining()).toBe(0);
    expect((await ask([USER])).status).toBe(500);
    expect(fake.unexpected).toHaveLength(1);
    expect(() => fake.assertClean()).toThrow('1 times more than scripted');
  });

  it('keep failing until they are replaced, or as often as they say', async () => {
    fake.script('default', [fail(503)]);
    expect([(await ask([USER])).status, (await ask([USER])).status]).toEqual([503, 503]);
    fake.script('default', [fail(503, { times: 2 }), say('ok')]);
    expect([(await ask([USER])).status, (await ask([USER])).status, (await ask([USER])).status]).toEqual([
      503, 503, 200,
    ]);
    expect(fake.unexpected).toEqual([]);
  });
});

describe('strictness', () => {
  const made = (id: string, args = '{}', name = 'ls') => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  const assistant = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls });
  const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'x' });

  it.each<[string, object[], RegExp | null]>([
    [
      'a whole exchange',
      [{ role: 'system', content: 's' }, USER, assistant(made('a'), made('b')), result('b'), result('a'), USER],
      null,
    ],
    ['a call without a result', [USER, assistant(made('a'))], /without a tool message: a/],
    ['something between call and result', [USER, assistant(made('a')), USER, result('a')], /without a tool message/],
    ['one of two results', [USER, assistant(made('a'), made('b')), result('a'), USER], /without a tool message: b/],
    ['two results', [USER, assistant(made('a')), result('a'), result('a')], /does not follow its call/],
    ['a result without a call', [USER, result('a')], /does not follow its call/],
    ['an empty id', [USER, assistant(made('')), result('')], /without an id/],
    ['one id twice', [USER, assistant(made('a'), made('a')), result('a')], /two tool calls/],
    ['an empty name', [USER, assistant(made('a', '{}', '')), result('a')], /has no name/],
    ['arguments that are a list', [USER, assistant(made('a', '[]')), result('a')], /no JSON object/],
    ['arguments that are cut', [USER, assistant(made('a', '{"x')), result('a')], /no JSON object/],
    ['an empty answer', [USER, { role: 'assistant', content: ' ' }, USER], /empty assistant/],
    ['a late system message', [USER, { role: 'system', content: 's' }], /only come first/],
    ['no message', [], /empty/],
  ])('%s', async (_, messages, fault) => {
    fake.script('default', [say('ok')]);
    const { status, answer } = await ask(messages);
    expect(status).toBe(fault === null ? 200 : 400);
    expect(answer.error?.message ?? '').toMatch(fault ?? /^$/);
    expect(fake.violations).toHaveLength(fault === null ? 0 : 1);
  });

  it('can be switched off', async () => {
    const lenient = await startFakeModel({ strict: false });
    lenient.script('any', [raw({ content: 'ok' })]);
    const response = await fetch(`${lenient.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', messages: [result('a')] }),
    });
    expect(response.status).toBe(200);
    await lenient.close();
  });
});

describe('plans inside a message', () => {
  it('make so many turns with tools and then end, with no script at all', async () => {
    const messages: object[] = [{ role: 'user', content: 'PLAN:tools=2 tool=two tokens=3' }];
    for (let turn = 1; turn <= 2; turn += 1) {
      const { answer } = await ask(messages, { tools: TOOLS });
      const made = answer.choices[0]?.message.tool_calls ?? [];
      expect(made).toHaveLength(2);
      messages.push({ role: 'assistant', content: '', tool_calls: made });
      messages.push(...made.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '(empty)' })));
    }
    messages.push({ role: 'user', content: '[LOOP DETECTED] a note of the server' });
    const { answer } = await ask(messages, { tools: TOOLS });
    expect(answer.choices[0]?.message.content).toBe('done w1 w2 w3');
    expect(answer.usage).toEqual({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
  });

  it('present the file that they wrote', async () => {
    const plan = { role: 'user', content: 'PLAN:tools=2 tool=present' };
    const [write] = (await ask([plan], { tools: TOOLS })).answer.choices[0]?.message.tool_calls ?? [];
    const messages = [
      plan,
      { role: 'assistant', content: '', tool_calls: [write] },
      { role: 'tool', tool_call_id: write?.id, content: 'OK' },
    ];
    const [present] = (await ask(messages, { tools: TOOLS })).answer.choices[0]?.message.tool_calls ?? [];
    const { path } = JSON.parse(write?.function.arguments ?? '{}') as { path: string };
    expect(present?.function).toEqual({ name: 'present_files', arguments: JSON.stringify({ filepaths: [path] }) });
  });

  it('wait, fail and end without tools as they say', async () => {
    const began = Date.now();
    expect(
      (await ask([{ role: 'user', content: 'PLAN:tools=5 delay=120 tokens=0' }])).answer.choices[0]?.message.content,
    ).toBe('done');
    expect(Date.now() - began).toBeGreaterThanOrEqual(115);
    expect((await ask([{ role: 'user', content: 'PLAN:tools=0 status=529' }])).status).toBe(529);
    expect((await ask([{ role: 'user', content: 'no plan' }])).status).toBe(500);
  });

  it('stamp each word with the time of its sending where they are asked to', async () => {
    const content = 'PLAN:tools=0 gap=20 tokens=3 stamp=1';
    const begun = Date.now();
    const response = await fetch(`${fake.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content }], stream: true }),
    });
    const stamps = [...(await response.text()).matchAll(/w(\d)@(\d{13})/g)].map(([, , at]) => Number(at));
    expect(stamps).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = stamps;
    expect(first).toBeGreaterThanOrEqual(begun);
    expect(second - first).toBeGreaterThanOrEqual(15);
    expect(third - second).toBeGreaterThanOrEqual(15);
    expect(third).toBeLessThanOrEqual(Date.now());
  });

  it('stream so many words a second after the time to the first', async () => {
    const content = 'PLAN:tools=0 ttft=150 rate=50 tokens=20';
    const began = performance.now();
    const response = await fetch(`${fake.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', stream: true, messages: [{ role: 'user', content }] }),
    });
    const firstByteMs = performance.now() - began;
    const words = [...(await response.text()).matchAll(/"content":"([^"]+)"/g)].map(([, word]) => word);
    const wholeMs = performance.now() - began;
    expect(words.join('')).toMatch(/^done w1 .* w20$/);
    expect(firstByteMs).toBeGreaterThanOrEqual(145);
    // 21 words at 50 a second: the last is sent 400 ms after the first.
    expect(wholeMs).toBeGreaterThanOrEqual(145 + 395);
  });

  it('are told to who counts requests, with their tag and their turn', async () => {
    const heard: Array<[string | undefined, number | undefined]> = [];
    const observed = await startFakeModel({
      record: false,
      observe: (request) => {
        const plan = planOf(request);
        heard.push([plan?.options.get('tag'), plan?.turn]);
      },
    });
    const post = (messages: object[]) =>
      fetch(`${observed.baseUrl}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'any', messages, tools: TOOLS }),
      });
    const plan = { role: 'user', content: 'PLAN:tools=1 tag=one' };
    const made = { id: 'a', type: 'function', function: { name: 'ls', arguments: '{}' } };
    await post([plan]);
    await post([
      plan,
      { role: 'assistant', content: '', tool_calls: [made] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]);
    await observed.close();
    expect(heard).toEqual([
      ['one', 1],
      ['one', 2],
    ]);
    expect(observed.requests).toEqual([]);
  });
});

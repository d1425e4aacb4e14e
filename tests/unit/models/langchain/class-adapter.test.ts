import type { JsonObject } from '../../../../contracts';
import { failureDetail } from '../../../../models';
import type { ReplyDelta } from '../../../../models';
import type { ProjectOnDisk } from '../../../support/providers/package-on-disk';
import { createProject } from '../../../support/providers/package-on-disk';
import type { ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import type { Wire } from '../../../support/providers/wire';
import { anthropicWire } from '../../../support/providers/anthropic-wire';
import { ollamaWire } from '../../../support/providers/ollama-wire';
import { failureOf, human, TOOL } from '../support';
import { ask, failureFrom, providerModel } from '../providers/provider-model';

const KEY = 'a-key-of-the-provider';

/** Three classes and two things that are none, as somebody would write them. */
const OWN_PACKAGE = `
const { BaseChatModel } = require('@langchain/core/language_models/chat_models');
const { AIMessage } = require('@langchain/core/messages');
class Plain extends BaseChatModel {
  constructor(fields) { super(fields); this.fields = fields; }
  _llmType() { return 'own'; }
  async _generate(messages, options) {
    const { apiKey, baseUrl, ...fields } = this.fields;
    const response = await fetch(baseUrl, {
      method: 'POST',
      headers: { authorization: apiKey },
      body: JSON.stringify({ fields, tools: options.tools, said: messages.map(({ text }) => text) }),
      signal: options.signal,
    });
    const { text, ...rest } = await response.json();
    if (!response.ok) throw Object.assign(new Error('refused ' + apiKey), { status: response.status });
    return { generations: [{ text, message: new AIMessage({ content: text, ...rest }) }] };
  }
}
exports.Plain = Plain;
exports.Own = class Own extends Plain {
  bindTools(tools, options) { return this.withConfig({ tools, ...options }); }
};
exports.Picky = class Picky extends Plain {
  constructor(fields) { super(fields); throw new Error('no region beside ' + fields.apiKey + '\\n at somewhere'); }
};
exports.makeModel = function makeModel() { return new Plain({}); };
exports.Embeddings = class Embeddings { embedQuery() {} };
`;

let server: ScriptedServer;
let project: ProjectOnDisk;

beforeAll(async () => {
  server = await startScriptedServer();
  project = createProject({ linked: ['@langchain/core'] });
  project.install('own-chat', { main: 'index.js' }, { 'index.js': OWN_PACKAGE });
});
afterAll(async () => {
  await server.close();
  project.remove();
});
beforeEach(() => void (server.requests.length = 0));

const create = (use: string, entry: object = {}) =>
  providerModel({ server, use, entry: { api_key: KEY, ...entry }, env: { DEER_FLOW_PROJECT_ROOT: project.folder } });

describe.each<[string, Wire, object]>([
  ['npm:@langchain/ollama#ChatOllama', ollamaWire, { headers: { authorization: KEY }, num_predict: 99 }],
  ['npm:@langchain/anthropic#ChatAnthropic', anthropicWire, {}],
])('the installed class %s', (use, wire, own) => {
  const model = (entry: object = {}) => create(use, { ...own, anthropic_api_url: server.url, ...entry });

  it('answers with streamed text, and counts its tokens', async () => {
    server.script(wire.reply({ text: 'It is four. Really.', usage: { input: 12, output: 7 } }));
    const deltas: ReplyDelta[] = [];
    const reply = await ask(model(), [human('2+2?')], { onDelta: (delta) => void deltas.push(delta) });
    expect(reply).toMatchObject({
      content: 'It is four. Really.',
      usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 },
    });
    expect(deltas.length).toBeGreaterThan(1);
  });

  it('is told about tools, and calls them', async () => {
    server.script(wire.reply({ calls: [{ id: 'c1', name: 'ls', args: { path: '/a' } }] }));
    const { toolCalls } = await ask(model(), [human('look')], { tools: [TOOL] });
    expect(toolCalls).toMatchObject([{ name: 'ls', args: '{"path":"/a"}' }]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain('Lists a folder');
  });

  it('gets the keys of the entry under their names in JavaScript', async () => {
    server.script(wire.reply({ text: 'ok' }));
    await ask(model({ top_k: 7, max_tokens: 99 }), [human('hi')]);
    const body = JSON.stringify(server.requests[0]?.body);
    expect(body).toContain('"top_k":7');
    expect(body).toMatch(/"(max_tokens|num_predict)":99/);
  });

  it.each([
    [401, 'model_auth', 'auth'],
    [429, 'model_rate_limited', 'transient'],
    [500, 'model_unavailable', 'transient'],
  ])('fails as the adapters of the product do: %d', async (status, code, reason) => {
    server.script(wire.error(status, 'some_error', `refused (${KEY})`));
    const failure = await failureOf(ask(model(), [human('hi')]));
    expect([failure.code, failureDetail(failure)?.reason]).toEqual([code, reason]);
    expect(failure.message).not.toContain(KEY);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a class of a package of the user', () => {
  const answer = (body: JsonObject, status = 200) => server.script({ status, parts: [JSON.stringify(body)] });
  const USAGE = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  const CALLS = [{ id: 'c1', name: 'ls', args: { path: '/a' }, type: 'tool_call' }];

  it('that streams nothing answers in one part, with calls and usage', async () => {
    answer({ text: 'Looking.', tool_calls: CALLS, usage_metadata: USAGE });
    const deltas: ReplyDelta[] = [];
    const onDelta = (delta: ReplyDelta) => void deltas.push(delta);
    const reply = await ask(create('npm:own-chat#Own'), [human('look')], { tools: [TOOL], onDelta });
    expect(reply).toMatchObject({
      content: 'Looking.',
      toolCalls: [{ id: 'c1', name: 'ls', args: '{"path":"/a"}' }],
      usage: USAGE,
    });
    expect(deltas).toMatchObject([{ content: 'Looking.', toolCallChunks: [{ index: 0, id: 'c1', name: 'ls' }] }]);
  });

  it('that counts in fractions, or not at all, is counted in whole tokens', async () => {
    answer({ text: 'ok', usage_metadata: { input_tokens: 3.4, output_tokens: 1.6, total_tokens: null } });
    expect((await ask(create('npm:own-chat#Own'), [human('hi')])).usage).toMatchObject({
      input_tokens: 3,
      output_tokens: 2,
      total_tokens: 5,
    });
  });

  it('gets the model, its address, thinking and keys of its own, and the conversation', async () => {
    answer({ text: 'ok' });
    const entry = { top_p: 0.5, supports_thinking: true, thinking: { type: 'enabled' }, temperature: 0, timeout: 3 };
    await ask(create('npm:own-chat#Own', entry), [human('hi')]);
    expect(server.requests[0]?.headers.authorization).toBe(KEY);
    expect(server.requests[0]?.body).toMatchObject({
      fields: { model: 'gemini-2.5-flash', topP: 0.5, thinking: { type: 'enabled' }, temperature: 0, timeout: 3_000 },
      said: ['Be brief.', 'hi'],
    });
  });

  it('that fails gives no key away', async () => {
    answer({ text: '' }, 503);
    const failure = await failureOf(ask(create('npm:own-chat#Own'), [human('hi')]));
    expect([failure.code, failure.message.includes(KEY)]).toEqual(['model_unavailable', false]);
  });

  it('that takes no tools answers without them, and says so where there are some', async () => {
    answer({ text: 'ok' });
    const model = create('npm:own-chat#Plain');
    expect((await ask(model, [human('hi')])).content).toBe('ok');
    const failure = await failureOf(ask(model, [human('hi')], { tools: [TOOL] }));
    expect([failure.code, failure.message]).toEqual(['configuration', expect.stringContaining('takes no tools')]);
  });

  it('that refuses the entry says so when it is loaded, in one line without the key', () => {
    const failure = failureFrom(() => create('npm:own-chat#Picky'));
    expect([failure.code, failure.message]).toEqual([
      'configuration',
      'config.yaml: models[0].use: the class refuses this entry: no region beside [redacted]',
    ]);
  });
});

it('a class below a path of a package is found', async () => {
  const model = create('npm:@langchain/core/utils/testing#FakeListChatModel', { responses: ['from the list'] });
  expect((await ask(model, [human('hi')])).content).toBe('from the list');
});

describe('an entry that names no class of a chat model is refused when it is loaded', () => {
  it.each([
    ['npm:own-chat#makeModel', 'makeModel of own-chat is no class of a chat model of LangChain.js'],
    ['npm:own-chat#Embeddings', 'Embeddings of own-chat is no class of a chat model of LangChain.js'],
    ['npm:own-chat#None', 'the package own-chat has no export None'],
    ['npm:@own/none#Chat', 'the package @own/none is not installed: npm install @own/none'],
    ['npm:own-chat', 'expected npm:<package>#<export>'],
    ['npm:../own-chat#Own', 'expected npm:<package>#<export>'],
    ['npm:own-chat/../../x#Own', 'expected npm:<package>#<export>'],
  ])('%s', (use, text) => {
    const failure = failureFrom(() => create(use));
    expect([failure.code, failure.message]).toEqual(['configuration', `config.yaml: models[0].use: ${text}`]);
  });
});

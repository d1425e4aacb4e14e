/** What goes to providers that refuse a whole request for one field or one message out of order. */
import { configSchema } from '../../../../contracts/schemas/config';
import type { AiMessage, JsonObject, Message } from '../../../../contracts';
import type { ToolDefinition } from '../../../../models';
import { createToolRegistry } from '../../../../tools';
import type { ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import { anthropicWire } from '../../../support/providers/anthropic-wire';
import { geminiWire } from '../../../support/providers/gemini-wire';
import { assistant, human, toolResult } from '../support';
import { ask, providerModel } from './provider-model';

const TOOLS: ToolDefinition[] = [
  ...createToolRegistry({ config: configSchema.parse({}), commandsAllowed: true }).definitions,
];

const PROVIDERS = [
  ['langchain_anthropic:ChatAnthropic', anthropicWire],
  ['deerflow.models.claude_provider:ClaudeChatModel', anthropicWire],
  ['langchain_google_genai:ChatGoogleGenerativeAI', geminiWire],
] as const;

const CALLS: Array<[string, string, JsonObject]> = [
  ['c1', 'ls', { path: '/a' }],
  ['c2', 'ls', { path: '/b' }],
];

describe.each(PROVIDERS)('a request to %s', (use, wire) => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScriptedServer(wire);
  });
  afterAll(() => server.close());
  beforeEach(() => server.script(wire.reply({ text: 'ok' })));

  const accepted = async (messages: Message[], entry: object = {}, tools = TOOLS) => {
    const reply = await ask(providerModel({ server, use, entry: { api_key: 'a-key', ...entry } }), messages, { tools });
    expect(reply.content).toBe('ok');
    return server.requests.at(-1)?.body ?? {};
  };

  it('describes every tool of the product as the provider takes it', async () => {
    const body = JSON.stringify(await accepted([human('hi')]));
    for (const { name, description } of TOOLS) {
      expect(body).toContain(`"${name}"`);
      expect(body).toContain(JSON.stringify(description));
    }
  });

  it('describes tools without parameters, and with parameters named like words of the schema', async () => {
    const plain = { name: 'now', description: 'The time', parameters: { type: 'object', properties: {} } };
    const properties = { strict: { type: 'boolean' }, additionalProperties: { type: 'string' } };
    const odd = { name: 'odd', description: 'Odd', parameters: { type: 'object', properties, required: ['strict'] } };
    const body = JSON.stringify(await accepted([human('hi')], {}, [plain, odd]));
    expect(body).toContain('"strict":{"type":');
    expect(body).toContain('"required":["strict"]');
  });

  it('describes a tool that wants one of several sets of arguments, too', async () => {
    const properties = { path: { type: 'string' }, url: { type: 'string' } };
    const anyOf = [{ required: ['path'] }, { required: ['url'] }];
    const tool = { name: 'fetch', description: 'Gets something', parameters: { type: 'object', properties, anyOf } };
    expect(JSON.stringify(await accepted([human('hi')], {}, [tool]))).toContain('Gets something');
  });

  it('names the one tool that must be called', async () => {
    server.script(wire.reply({ text: 'ok' }));
    const model = providerModel({ server, use, entry: { api_key: 'a-key' } });
    await ask(model, [human('look')], { tools: TOOLS, toolChoice: 'ls' });
    expect(server.requests.at(-1)?.body).toMatchObject(
      wire === geminiWire
        ? { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['ls'] } } }
        : { tool_choice: { type: 'tool', name: 'ls' } },
    );
  });

  it('has the results of calls made at once in one turn, and what the user said meanwhile behind them', async () => {
    const results = [toolResult('c1', 'a.txt'), toolResult('c2', '')];
    const { messages, contents } = await accepted([
      human('look'),
      assistant('Looking.', CALLS),
      ...results,
      human('and?'),
      assistant('', [['c3', 'ls', {}]]),
      toolResult('c3', 'c.txt'),
    ]);
    expect(((messages ?? contents) as unknown[]).length).toBeGreaterThan(4);
  });

  it('holds no text that says nothing', async () => {
    const blank: AiMessage = assistant(' \n\n', CALLS);
    const results = [toolResult('c1', 'a'), toolResult('c2', ' ')];
    await accepted([human('look'), blank, ...results, assistant('\n'), human([{ type: 'text', text: 'and?' }])]);
  });

  it('holds the calls that another provider made, whatever their ids and names look like', async () => {
    const id = 'functions.ls:0/ü';
    const body = await accepted([human('look'), assistant('', [[id, '9 lists!', {}]]), toolResult(id, 'a')]);
    expect(JSON.stringify(body)).not.toContain('ü');
  });
});

it('a thinking model of Anthropic gets its thoughts back first, and may spend four fifths of its tokens on more', async () => {
  const server = await startScriptedServer(anthropicWire);
  try {
    const call = { id: 'c1', name: 'ls', args: { path: '/a' } };
    const thinking = { text: 'let me see', signature: 's' };
    server.script(
      anthropicWire.reply({ thinking, text: 'Looking.', calls: [call] }),
      anthropicWire.reply({ text: 'ok' }),
    );
    const entry = { api_key: 'a-key', thinking: { type: 'enabled' } };
    const model = providerModel({ server, use: 'langchain_anthropic:ChatAnthropic', entry });
    const { additionalKwargs, responseMetadata } = await ask(model, [human('look')], { tools: TOOLS });
    const stored: AiMessage = {
      ...assistant('Looking.', [['c1', 'ls', { path: '/a' }]]),
      additional_kwargs: additionalKwargs,
      response_metadata: responseMetadata,
    };
    await ask(model, [human('look'), stored, toolResult('c1', 'a.txt')], { tools: TOOLS });
    expect(server.requests.at(-1)?.body).toMatchObject({
      max_tokens: 8192,
      thinking: { type: 'enabled', budget_tokens: 6553 },
      messages: [{}, { content: [{ type: 'thinking' }, { type: 'text' }, { type: 'tool_use' }] }, {}],
    });
  } finally {
    await server.close();
  }
});

describe('Gemini', () => {
  const use = 'langchain_google_genai:ChatGoogleGenerativeAI';
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer(geminiWire);
  });
  afterAll(() => server.close());
  beforeEach(() => server.script(geminiWire.reply({ text: 'ok' })));
  const entry = { api_key: 'a-key', supports_vision: true };
  const parts = (): unknown => server.requests.at(-1)?.body['contents'];

  it('is shown pictures whatever the name of the model, and told of those that lie elsewhere', async () => {
    const url = 'https://example.org/cat.png';
    const pictures = ['data:image/png;base64,aGVsbG8=', url].map((at) => ({
      type: 'image_url',
      image_url: { url: at },
    }));
    const model = providerModel({ server, use, entry: { ...entry, model: 'newest-of-all' } });
    await ask(model, [human([...pictures])]);
    const text = `[picture at ${url}, which the model cannot see]`;
    expect(parts()).toMatchObject([{ parts: [{ inlineData: { mimeType: 'image/png' } }, { text }] }]);
  });

  it('gets back of an earlier reply what its client can send', async () => {
    const provider_content: JsonObject[] = [
      { type: 'inlineData', inlineData: {} },
      { type: 'text', text: 'drawn' },
    ];
    const stored: AiMessage = {
      ...assistant('drawn'),
      additional_kwargs: { provider_content },
      response_metadata: { model_provider: 'google-genai' },
    };
    await ask(providerModel({ server, use, entry }), [human('draw'), stored, human('again')]);
    expect(parts()).toMatchObject([{}, { parts: [{ text: 'drawn' }] }, {}]);
  });
});

it('tells Anthropic which results are failures', async () => {
  const server = await startScriptedServer(anthropicWire);
  try {
    server.script(anthropicWire.reply({ text: 'ok' }));
    const model = providerModel({ server, use: 'langchain_anthropic:ChatAnthropic', entry: { api_key: 'a-key' } });
    const failed: Message = { ...toolResult('c1', 'Error: no such directory'), status: 'error' };
    await ask(model, [human('look'), assistant('', CALLS), failed, toolResult('c2', 'b')]);
    expect(server.requests.at(-1)?.body['messages']).toMatchObject([
      {},
      {},
      {
        content: [
          { tool_use_id: 'c1', is_error: true },
          { tool_use_id: 'c2', content: 'b' },
        ],
      },
    ]);
  } finally {
    await server.close();
  }
});

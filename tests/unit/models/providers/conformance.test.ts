import type { AiMessage, HumanMessage, Message, ToolMessage } from '../../../../contracts';
import { isAppError } from '../../../../contracts';
import { modelConfigSchema } from '../../../../contracts/schemas/config/models';
import { acceptReply } from '../../../../core/messages/accept-reply';
import { failureDetail } from '../../../../models';
import { findAdapter } from '../../../../models/adapters';
import type { ModelRequest, ReplyDelta } from '../../../../models';
import { createSilentLogger } from '../../../../observability';
import type { ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import type { Wire } from '../../../support/providers/wire';
import { anthropicWire, geminiWire, ollamaWire } from '../../../support/providers/wire';

const KEY = 'sk-a-provider-key-1234';
const STALL_MS = 400;

interface Provider {
  use: string;
  wire: Wire;
  /** Parts of the entry that turn thinking on. */
  thinking: object;
  /** What of an earlier reply must be in the next request, beside its text. */
  sentBack: (signature: string) => string[];
  /** Whether calls come in pieces. */
  pieces: boolean;
}

const PROVIDERS: Provider[] = [
  {
    use: 'langchain_anthropic:ChatAnthropic',
    wire: anthropicWire,
    thinking: { thinking: { type: 'enabled' } },
    sentBack: (signature) => ['"thinking":"let me see"', `"signature":"${signature}"`],
    pieces: true,
  },
  {
    use: 'deerflow.models.claude_provider:ClaudeChatModel',
    wire: anthropicWire,
    thinking: { thinking: { type: 'enabled' } },
    sentBack: (signature) => ['"thinking":"let me see"', `"signature":"${signature}"`],
    pieces: true,
  },
  {
    use: 'langchain_google_genai:ChatGoogleGenerativeAI',
    wire: geminiWire,
    thinking: {},
    sentBack: (signature) => [`"thoughtSignature":"${signature}"`],
    pieces: false,
  },
  {
    use: 'langchain_ollama:ChatOllama',
    wire: ollamaWire,
    thinking: { reasoning: true },
    sentBack: () => [],
    pieces: false,
  },
];

const LS = {
  name: 'ls',
  description: 'Lists a folder',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};
const human = (content: HumanMessage['content']): HumanMessage => ({
  type: 'human',
  id: 'h',
  name: null,
  content,
  additional_kwargs: {},
  response_metadata: {},
});
const result = (reply: AiMessage, content: string): ToolMessage[] =>
  reply.tool_calls.map(({ id, name }) => ({
    type: 'tool',
    id: `r-${id}`,
    tool_call_id: id,
    name,
    status: 'success',
    content,
    artifact: null,
    additional_kwargs: {},
    response_metadata: {},
  }));

describe.each(PROVIDERS)('a model of $use', ({ use, wire, thinking, sentBack, pieces }) => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterAll(() => server.close());
  beforeEach(() => void (server.requests.length = 0));

  const model = (parts: object = {}) => {
    const entry = modelConfigSchema.parse({
      name: 'own',
      use,
      model: 'gemini-2.5-flash',
      api_key: KEY,
      base_url: server.url,
      ...parts,
    });
    const adapter = findAdapter(use);
    if (adapter === undefined) throw new Error('there is no adapter');
    return adapter.create({ entry, key: 'models[0]', stallTimeoutMs: STALL_MS, env: {}, log: createSilentLogger() });
  };
  const ask = (messages: Message[], parts: object = {}, request: Partial<ModelRequest> = {}) =>
    model(parts).reply({ system: 'Be brief.', messages, tools: [LS], signal: AbortSignal.timeout(5_000), ...request });
  const failure = async (promise: Promise<unknown>) => {
    const error: unknown = await promise.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!isAppError(error)) throw new Error(`expected an error of the catalogue, got ${String(error)}`);
    expect(JSON.stringify([error.message, error.options.detail])).not.toContain(KEY);
    return error;
  };
  const wireText = (): string => JSON.stringify(server.requests.at(-1)?.body);

  it('answers with text, streamed in order, and counts its tokens', async () => {
    server.script(wire.reply({ text: 'It is four. Really.', usage: { input: 12, output: 7 } }));
    const deltas: ReplyDelta[] = [];
    const reply = await ask([human('2+2?')], {}, { onDelta: (delta) => void deltas.push(delta) });
    expect(reply).toMatchObject({
      content: 'It is four. Really.',
      toolCalls: [],
      usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 },
      responseMetadata: { model_name: 'gemini-2.5-flash' },
    });
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ content }) => content).join('')).toBe('It is four. Really.');
    expect(wireText()).toContain('2+2?');
    expect(wireText()).toContain('Be brief.');
    expect(wireText()).toContain('Lists a folder');
    expect(server.requests).toHaveLength(1);
  });

  it.each(pieces ? [1, 20] : [1])('calls several tools at once, with arguments in %d pieces', async (count) => {
    const calls = [
      { id: 'c1', name: 'ls', args: { path: '/a "quoted" ü' } },
      { id: 'c2', name: 'ls', args: { path: '/b' } },
    ];
    server.script(wire.reply({ text: 'Looking.', calls, pieces: count }));
    const reply = await ask([human('look')]);
    expect(reply.toolCalls.map(({ name, args }) => [name, JSON.parse(args)])).toEqual(
      calls.map(({ name, args }) => [name, args]),
    );
    expect(reply.content).toBe('Looking.');
  });

  it('goes on from what was stored of it, as after a crash: text, calls, results and what the provider wants back', async () => {
    const signature = 'c2lnbmF0dXJl';
    server.script(
      wire.reply({
        thinking: { text: 'let me see', signature },
        text: 'Looking.',
        calls: [{ id: 'c1', name: 'ls', args: { path: '/a' } }],
      }),
      wire.reply({ text: 'Done.' }),
    );
    const first = acceptReply(await ask([human('look')], thinking), 'lc_run--1');
    // Through the database and back.
    const stored = JSON.parse(JSON.stringify(first)) as AiMessage;
    await ask([human('look'), stored, ...result(stored, 'a.txt')], thinking);
    for (const part of ['Looking.', '/a', 'a.txt', ...sentBack(signature)])
      expect(wireText()).toContain(part.startsWith('"') ? part : JSON.stringify(part).slice(1, -1));
  });

  it('keeps its thoughts apart from its answer', async () => {
    if (use.includes('google')) return;
    server.script(wire.reply({ thinking: { text: 'let me see', signature: 's' }, text: 'Four.' }));
    const reply = await ask([human('2+2?')], thinking);
    expect(reply.content).toBe('Four.');
    expect(reply.additionalKwargs['reasoning_content']).toBe('let me see');
  });

  it('is shown pictures only where it sees, and a note in their place where it does not', async () => {
    const picture = human([
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
    ]);
    server.script(wire.reply({ text: 'a cat' }), wire.reply({ text: 'I cannot see' }));
    await ask([picture], { supports_vision: true });
    expect(wireText()).toContain('aGVsbG8=');
    await ask([picture]);
    expect(wireText()).not.toContain('aGVsbG8=');
    expect(wireText()).toContain('content of type image_url');
  });

  it.each([
    [401, 'authentication_error', 'invalid x-api-key', 'model_auth', 'auth'],
    [429, 'rate_limit_error', 'rate limit reached', 'model_rate_limited', 'transient'],
    [529, 'overloaded_error', 'Overloaded', 'model_unavailable', 'transient'],
    [500, 'api_error', 'internal server error', 'model_unavailable', 'transient'],
    [
      400,
      'invalid_request_error',
      'prompt is too long: 200001 tokens > 200000 maximum',
      'model_context_length',
      'context_length',
    ],
    [400, 'invalid_request_error', 'unknown field', 'model_rejected', 'rejected'],
  ])(
    'says what kind of failure %d %s is, asks once, and gives no key away',
    async (status, type, message, code, reason) => {
      server.script(wire.error(status, type, `${message} (${KEY})`));
      const error = await failure(ask([human('hi')]));
      expect([error.code, failureDetail(error)?.reason]).toEqual([code, reason]);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('that falls silent is given up', async () => {
    server.script({ ...wire.reply({ text: 'I was about', finish: null }), hang: true });
    expect(failureDetail(await failure(ask([human('hi')])))?.reason).toBe('stalled');
  });

  it('that closes before it was done has given no reply', async () => {
    server.script(wire.reply({ text: 'I was about', finish: null }));
    expect((await failure(ask([human('hi')]))).code).toBe('model_unavailable');
    server.script({ ...wire.reply({ text: 'I was about', finish: null }), cut: true });
    expect((await failure(ask([human('hi')]))).code).toBe('model_unavailable');
  });

  it('that says nothing has given no reply', async () => {
    server.script(wire.reply({ text: '' }));
    expect((await failure(ask([human('hi')]))).code).toBe('model_empty_reply');
  });

  it('is stopped by its user at once', async () => {
    server.script({ ...wire.reply({ text: 'one two', finish: null }), hang: true });
    const abort = new AbortController();
    const stop = ask(
      [human('hi')],
      {},
      { signal: abort.signal, onDelta: () => abort.abort(new Error('stopped by its user')) },
    );
    await expect(stop).rejects.toThrow('stopped by its user');
  });

  it('takes messages of other providers as plain text', async () => {
    server.script(wire.reply({ text: 'ok' }));
    const foreign = acceptReply(
      {
        content: 'from elsewhere',
        toolCalls: [],
        usage: null,
        finishReason: 'stop',
        additionalKwargs: { reasoning_content: 'foreign thoughts' },
        responseMetadata: { model_provider: 'somebody' },
      },
      'lc_run--2',
    );
    await ask([human('a'), foreign, human('b')]);
    expect(wireText()).toContain('from elsewhere');
    expect(wireText()).not.toContain('foreign thoughts');
  });
});

import type { AiMessage, HumanMessage, Message } from '../../../contracts';
import { modelConfigSchema } from '../../../contracts/schemas/config/models';
import { acceptReply } from '../../../core/messages/accept-reply';
import { findAdapter } from '../../../models/adapters';
import { createSilentLogger } from '../../../observability';
import type { ProviderAnswer, ScriptedServer } from '../../support/providers/scripted-server';
import { startScriptedServer } from '../../support/providers/scripted-server';

const KEY = 'a-provider-key';
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());
beforeEach(() => void (server.requests.length = 0));

/** Chat completions, streamed: one delta a part. */
function stream(...deltas: object[]): ProviderAnswer {
  const finish = JSON.stringify(deltas).includes('tool_calls') ? 'tool_calls' : 'stop';
  const chunks = [
    ...deltas.map((delta) => ({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })),
    { id: 'c', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: finish }] },
  ];
  const parts = [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
  return { contentType: 'text/event-stream', parts };
}

const human = (content: HumanMessage['content']): Message => ({
  type: 'human',
  id: 'h',
  name: null,
  content,
  additional_kwargs: {},
  response_metadata: {},
});
const resultOf = ({ tool_calls: calls }: AiMessage): Message[] =>
  calls.map(({ id, name }) => ({
    type: 'tool',
    id: `r-${id}`,
    tool_call_id: id,
    name,
    status: 'success',
    content: 'a.txt',
    artifact: null,
    additional_kwargs: {},
    response_metadata: {},
  }));

function create(use: string, parts: object) {
  const entry = modelConfigSchema.parse({ name: 'own', use, model: 'm', api_key: KEY, ...parts });
  const options = { entry, key: 'models[0]', stallTimeoutMs: 1_000, env: {}, log: createSilentLogger() };
  return findAdapter(use)?.create(options);
}

async function ask(use: string, messages: Message[], parts: object = {}): Promise<AiMessage> {
  const model = create(use, { base_url: `${server.url}/v1`, ...parts });
  const reply = await model?.reply({ system: '', messages, tools: [], signal: AbortSignal.timeout(5_000) });
  if (reply === undefined) throw new Error('there is no adapter');
  // Through the database and back.
  return JSON.parse(JSON.stringify(acceptReply(reply, 'lc_run--1'))) as AiMessage;
}

const sent = (): Record<string, unknown> => server.requests.at(-1)?.body ?? {};
const CALL = { index: 0, id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } };

describe('Gemini behind the wire of OpenAI', () => {
  it.each([
    ['thought_signature', { thought_signature: 'c2ln' }, { thought_signature: 'c2ln' }],
    ['thoughtSignature', { thoughtSignature: 'c2ln' }, { thought_signature: 'c2ln' }],
    [
      'extra_content',
      { extra_content: { google: { thought_signature: 'c2ln' } } },
      { extra_content: { google: { thought_signature: 'c2ln' } } },
    ],
  ])('gets the signature of a thought back with the call, from a stored conversation: %s', async (_, given, back) => {
    const use = 'deerflow.models.patched_openai:PatchedChatOpenAI';
    server.script(stream({ tool_calls: [{ ...CALL, ...given }] }), stream({ content: 'done' }));
    const reply = await ask(use, [human('look')]);
    await ask(use, [human('look'), reply, ...resultOf(reply)]);
    expect(sent()['messages']).toMatchObject([{}, { tool_calls: [{ id: 'c1', ...back }] }, {}]);
  });

  it('is the only one that is sent such fields', async () => {
    server.script(stream({ tool_calls: [{ ...CALL, thought_signature: 'c2ln' }] }), stream({ content: 'done' }));
    const use = 'langchain_openai:ChatOpenAI';
    const reply = await ask(use, [human('look')]);
    await ask(use, [human('look'), reply, ...resultOf(reply)]);
    expect(JSON.stringify(sent())).not.toContain('c2ln');
  });
});

describe('MiniMax', () => {
  it('keeps its thoughts apart from its answer because it is asked for that', async () => {
    server.script(stream({ reasoning_details: [{ text: 'h' }, { text: 'm' }] }, { content: 'four' }));
    const reply = await ask('deerflow.models.patched_minimax:PatchedChatMiniMax', [human('2+2?')]);
    expect(reply).toMatchObject({ content: 'four', additional_kwargs: { reasoning_content: 'hm' } });
    expect(sent()['reasoning_split']).toBe(true);
  });
});

describe('Azure', () => {
  const use = 'langchain_openai:AzureChatOpenAI';

  it('is asked under the address of the deployment, with its key in a header of its own and no other', async () => {
    server.script(stream({ content: 'hello' }));
    const parts = {
      base_url: null,
      azure_endpoint: `${server.url}/`,
      azure_deployment: 'mine',
      api_version: '2024-10-21',
    };
    expect((await ask(use, [human('hi')], parts)).content).toBe('hello');
    const [request] = server.requests;
    expect(request?.path).toBe('/openai/deployments/mine/chat/completions?api-version=2024-10-21');
    expect(request?.headers['api-key']).toBe(KEY);
    expect(request?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['azure_endpoint', { api_version: '1' }],
    ['azure_endpoint', { azure_endpoint: 'https://example.org/?api-version=1', api_version: '1' }],
    ['azure_endpoint', { azure_endpoint: 'https://example.org ', api_version: '1' }],
    ['api_version', { azure_endpoint: 'https://example.org' }],
  ])('says that %s is missing or wrong', (name, parts) => {
    expect(() => create(use, parts)).toThrow(`models[0].${name}`);
  });
});

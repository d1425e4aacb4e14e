import { configSchema } from '../../../contracts/schemas/config';
import type { ChatModel } from '../../../models';
import { createChatModelFactory } from '../../../models';
import { createLogger } from '../../../observability';
import { createChatCompletionsWire } from '../../support/providers/chat-completions-wire';
import { ollamaWire } from '../../support/providers/ollama-wire';
import type { ScriptedServer } from '../../support/providers/scripted-server';
import { startScriptedServer } from '../../support/providers/scripted-server';
import { newCall } from './support';

const CHAT = 'langchain_openai:ChatOpenAI';
const OLLAMA = 'langchain_ollama:ChatOllama';
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());
beforeEach(() => void (server.requests.length = 0));

function create(parts: object): { model: ChatModel; lines: string[] } {
  const lines: string[] = [];
  const log = createLogger({ name: 'test', destination: { write: (line) => void lines.push(line) } });
  const entry = { name: 'own', use: CHAT, model: 'm', api_key: 'sk-hidden', base_url: server.url, ...parts };
  const config = configSchema.parse({ models: [entry] });
  return { model: createChatModelFactory({ config, log }).resolve(), lines };
}

async function ask(parts: { use?: string } & Record<string, unknown>) {
  const spoken = parts.use === OLLAMA ? ollamaWire : createChatCompletionsWire();
  server.script(spoken.reply({ text: 'ok' }));
  const { model, lines } = create(parts);
  await model.reply(newCall().request);
  const [request] = server.requests;
  return { body: request?.body ?? {}, path: request?.path, lines };
}

describe('keys of an entry', () => {
  it('that nothing here knows are sent as they are, and named in the log', async () => {
    const { body, lines } = await ask({ top_k: 20, enable_search: true, min_p: null, top_p: 0.5 });
    expect(body).toMatchObject({ top_k: 20, enable_search: true, top_p: 0.5 });
    expect(body).not.toHaveProperty('min_p');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"keys":["top_k","enable_search"]');
  });

  it('that say something to this program alone are never sent', async () => {
    const { body } = await ask({
      display_name: 'Own',
      description: 'Mine',
      supports_vision: true,
      context_window: 1000,
      request_admission: { requests_per_minute: 6000 },
      pricing: { currency: 'USD' },
      stream_chunk_timeout: 5,
      max_retries: 5,
      output_version: 'v1',
      default_headers: { 'x-own': '1' },
    });
    expect(Object.keys(body).sort()).toEqual(['messages', 'model', 'stream', 'stream_options', 'tools']);
  });

  it('that may hold a secret, or that would change what a run asks for, have no effect and are named in the log', async () => {
    const { body, lines } = await ask({ openai_api_key: 'sk-other', stream: false, tools: [], verbose: true });
    expect(JSON.stringify(body)).not.toContain('sk-other');
    expect(body).toMatchObject({ stream: true, tools: [{ function: { name: 'ls' } }] });
    expect(body).not.toHaveProperty('verbose');
    expect(lines.join()).toContain('"keys":["openai_api_key","stream","tools","verbose"]');
  });

  it('are overruled by what extra_body says, down to the words that the client has for itself', async () => {
    const { body } = await ask({ top_k: 1, verbosity: 'low', extra_body: { top_k: 2, max_tokens: 7 } });
    expect(body).toMatchObject({ top_k: 2, verbosity: 'low', max_tokens: 7 });
  });
});

describe('the longest reply', () => {
  it.each([
    [CHAT, 'm', 'max_tokens'],
    [CHAT, 'gpt-5-mini', 'max_completion_tokens'],
    [CHAT, 'openai/o3', 'max_completion_tokens'],
    ['langchain_deepseek:ChatDeepSeek', 'deepseek-chat', 'max_tokens'],
    ['deerflow.models.patched_deepseek:PatchedChatDeepSeek', 'deepseek-chat', 'max_tokens'],
    ['deerflow.models.patched_mimo:PatchedChatMiMo', 'mimo', 'max_completion_tokens'],
    ['deerflow.models.patched_stepfun:PatchedChatStepFun', 'step-3', 'max_tokens'],
    ['deerflow.models.patched_minimax:PatchedChatMiniMax', 'MiniMax-M2', 'max_completion_tokens'],
    ['deerflow.models.vllm_provider:VllmChatModel', 'gpt-5-like', 'max_tokens'],
    ['deerflow.models.patched_openai:PatchedChatOpenAI', 'gemini', 'max_tokens'],
  ])('is asked of %s (%s) under the name %s, and no other', async (use, model, name) => {
    const { body } = await ask({ use, model, max_tokens: 99 });
    const other = name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    expect(body).toMatchObject({ [name]: 99 });
    expect(body).not.toHaveProperty(other);
  });

  it('has the name that the entry itself has for it', async () => {
    const { body } = await ask({ use: 'langchain_deepseek:ChatDeepSeek', max_completion_tokens: 77 });
    expect(body).toMatchObject({ max_completion_tokens: 77 });
    expect(body).not.toHaveProperty('max_tokens');
  });
});

describe('an address', () => {
  it.each(['/v1/chat/completions', '/v1/chat/completions/', '/v1/responses', '/v1/', '/v1//'])(
    'that was copied with %s at its end is understood, and the log says what was left out',
    async (end) => {
      const { path, lines } = await ask({ base_url: `${server.url}${end}` });
      expect(path).toBe('/v1/chat/completions');
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('the end of the address is left out');
    },
  );

  it('of another wire keeps its path, but for a slash at its end', async () => {
    const { path, lines } = await ask({ use: OLLAMA, base_url: `${server.url}/` });
    expect(path).toBe('/api/chat');
    expect(lines).toHaveLength(1);
  });

  it.each(['?api-version=1', '/v1?a=b', '/v1#part'])('with %s is refused, by the name of its key', (end) => {
    for (const use of [CHAT, OLLAMA, 'deerflow.models.mindie_provider:MindIEChatModel']) {
      const expected = /^config\.yaml: models\[0\]\.api_base: expected an address without \? and #/;
      expect(() => create({ use, base_url: null, api_base: `http://127.0.0.1:9${end}` })).toThrow(
        expect.objectContaining({ code: 'configuration', message: expect.stringMatching(expected) }),
      );
    }
  });
});

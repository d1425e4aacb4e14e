import { join } from 'node:path';
import type { ApiClient, Product } from '../../support/product';
import { ask, createApiClient, startProduct } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import { anthropicWire } from '../../support/providers/anthropic-wire';
import { createChatCompletionsWire } from '../../support/providers/chat-completions-wire';
import { geminiWire } from '../../support/providers/gemini-wire';
import { ollamaWire } from '../../support/providers/ollama-wire';
import { responsesWire } from '../../support/providers/responses-wire';
import type { ScriptedServer } from '../../support/providers/scripted-server';
import { startScriptedServer } from '../../support/providers/scripted-server';
import type { Wire } from '../../support/providers/wire';
import { until } from './scenario';

const KEY = 'sk-provider-secret-98765';
const CODEX_LOGIN = join(__dirname, '../../fixtures/codex-login.json');
const SIGNATURE = 'c2lnbmVkLXRob3VnaHQ=';

interface Provider {
  name: string;
  use: string;
  model: string;
  wire: Wire;
  /** The signature of its thought must come back to it. */
  signs: boolean;
  /** More of the entry. */
  entry?: object;
}

const PROVIDERS: Provider[] = [
  {
    name: 'anthropic',
    use: 'langchain_anthropic:ChatAnthropic',
    model: 'anthropic-example',
    wire: anthropicWire,
    signs: true,
    entry: { thinking: { type: 'enabled' }, supports_thinking: true },
  },
  {
    name: 'responses',
    use: 'langchain_openai:ChatOpenAI',
    model: 'gpt-5-example',
    wire: responsesWire,
    signs: true,
    entry: { use_responses_api: true },
  },
  {
    name: 'codex',
    use: 'deerflow.models.openai_codex_provider:CodexChatModel',
    model: 'gpt-5-example',
    wire: responsesWire,
    signs: true,
  },
  {
    name: 'gemini-compatible',
    use: 'deerflow.models.patched_openai:PatchedChatOpenAI',
    model: 'example',
    wire: createChatCompletionsWire({ signs: true }),
    signs: true,
  },
  {
    name: 'gemini',
    use: 'langchain_google_genai:ChatGoogleGenerativeAI',
    model: 'gemini-2.5-flash',
    wire: geminiWire,
    signs: true,
  },
  { name: 'local', use: 'langchain_ollama:ChatOllama', model: 'example', wire: ollamaWire, signs: false },
];

let server: ScriptedServer;
let product: Product;
let api: ApiClient;

beforeAll(async () => {
  // Each provider refuses what it would refuse of the requests of a whole run.
  server = await startScriptedServer({
    faults: (body) =>
      ('contents' in body ? geminiWire : 'max_tokens' in body ? anthropicWire : ollamaWire).faults?.(body) ?? [],
  });
  const models = PROVIDERS.map(({ name, use, model, entry = {} }) => ({
    name,
    use,
    model,
    api_key: KEY,
    base_url: server.url,
    ...entry,
  }));
  product = await startProduct({ config: { models, log_level: 'debug' }, env: { CODEX_AUTH_PATH: CODEX_LOGIN } });
  api = createApiClient(() => product.url);
});
afterAll(async () => {
  await product.close();
  await server.close();
});
beforeEach(() => void (server.requests.length = 0));

test.each(PROVIDERS)(
  'a run with $use as $name goes on after its worker was killed, with what the provider wants back and no reply paid for twice',
  async ({ name, wire, signs }) => {
    const sleep = { id: 'c1', name: 'bash', args: { command: 'touch begun && sleep 2', description: 'waits' } };
    server.script(
      wire.reply({ thinking: { text: 'let me see', signature: SIGNATURE }, text: 'I wait.', calls: [sleep] }),
      wire.reply({ text: 'All is done.', usage: { input: 30, output: 4 } }),
    );
    const threadId = await api.newThread();
    const body = ask('wait a little', { context: { model_name: name } });
    const { body: run } = await api.request<{ run_id: string }>('POST', `/api/threads/${threadId}/runs`, body);
    const { run_id: runId } = run;
    const begun = async (): Promise<boolean> => {
      const { rows } = await product.pool.query("select 1 from tool_calls where run_id = $1 and state = 'started'", [
        runId,
      ]);
      return rows.length > 0;
    };
    await until(begun, 'the tool to begin');
    await product.workers.find(({ running }) => running)?.kill();
    await product.startWorker();
    const ended = await api.ended(threadId, runId);
    expect(ended).toMatchObject({ status: 'success', total_tokens: 49, llm_call_count: 2 });
    await expectSoundRun(product.pool, runId);
    expect(server.requests).toHaveLength(2);
    const second = JSON.stringify(server.requests[1]?.body);
    expect(second).toContain('I wait.');
    if (signs) expect(second).toContain(SIGNATURE);
    expect((await api.values(threadId)).messages.at(-1)?.content).toBe('All is done.');
  },
);

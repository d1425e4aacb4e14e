/** Every adapter that the conformance suite holds to its promises, and what each provider cannot do or does otherwise. */
import { join } from 'node:path';
import { anthropicWire } from './anthropic-wire';
import { createChatCompletionsWire } from './chat-completions-wire';
import { geminiWire } from './gemini-wire';
import { mindIeWire } from './mindie-wire';
import { ollamaWire } from './ollama-wire';
import { responsesWire } from './responses-wire';
import type { Wire } from './wire';

export interface Provider {
  use: string;
  /** Sets apart the wires that one class speaks. */
  variant: string;
  wire: Wire;
  /** Parts of the entry beside those that all have. */
  entry: (url: string, stallMs: number) => object;
  /** Variables of the process. */
  env: Record<string, string>;
  /** Parts of the entry that turn thinking on. */
  thinking: object;
  /** What of an earlier reply must be in the next request, beside its text. */
  sentBack: (signature: string) => string[];
  /** Whether calls come in pieces. */
  pieces: boolean;
  /** Whether a model can be shown pictures. */
  sees: boolean;
  /** Whether what goes wrong after status 200 is told; the client of one provider keeps it to itself. */
  tellsLateErrors: boolean;
  /** How a server is given up that gives signs of life and no content: a whole reply has a time-out before that. */
  idleIs: 'stalled' | 'transient';
  /** Whether thoughts of another provider go out as its own: some refuse a call that comes back without any. */
  takesForeignThoughts: boolean;
}

const USUAL: Omit<Provider, 'use' | 'wire'> = {
  variant: '',
  env: {},
  entry: (url) => ({ base_url: url }),
  thinking: {},
  sentBack: () => [],
  pieces: true,
  sees: true,
  tellsLateErrors: true,
  idleIs: 'stalled',
  takesForeignThoughts: false,
};

const ANTHROPIC: Omit<Provider, 'use'> = {
  ...USUAL,
  wire: anthropicWire,
  thinking: { thinking: { type: 'enabled' } },
  sentBack: (signature) => ['"thinking":"let me see"', `"signature":"${signature}"`],
};

const ECHOES: Omit<Provider, 'use' | 'wire'> = {
  ...USUAL,
  sentBack: () => ['"reasoning_content":"let me see"'],
  takesForeignThoughts: true,
};

const RESPONSES: Omit<Provider, 'use'> = {
  ...USUAL,
  wire: responsesWire,
  sentBack: (signature) => [`"encrypted_content":"${signature}"`],
};

const completions = createChatCompletionsWire();
const reasoning = createChatCompletionsWire({ thoughts: 'reasoning' });

export const PROVIDERS: readonly Provider[] = [
  { ...ANTHROPIC, use: 'langchain_anthropic:ChatAnthropic' },
  { ...ANTHROPIC, use: 'deerflow.models.claude_provider:ClaudeChatModel' },
  {
    ...USUAL,
    use: 'langchain_google_genai:ChatGoogleGenerativeAI',
    wire: geminiWire,
    sentBack: (signature) => [`"thoughtSignature":"${signature}"`],
    tellsLateErrors: false,
    pieces: false,
  },
  {
    ...USUAL,
    use: 'langchain_ollama:ChatOllama',
    wire: ollamaWire,
    thinking: { reasoning: true },
    pieces: false,
  },
  { ...USUAL, use: 'langchain_openai:ChatOpenAI', wire: completions },
  {
    ...RESPONSES,
    use: 'langchain_openai:ChatOpenAI',
    variant: ', over the Responses API',
    entry: (url) => ({ base_url: url, use_responses_api: true, supports_thinking: true }),
  },
  {
    ...RESPONSES,
    use: 'deerflow.models.openai_codex_provider:CodexChatModel',
    env: { CODEX_AUTH_PATH: join(__dirname, '../../fixtures/codex-login.json') },
  },
  {
    ...USUAL,
    use: 'langchain_openai:AzureChatOpenAI',
    wire: completions,
    entry: (url) => ({ azure_endpoint: url, azure_deployment: 'mine', api_version: '2024-10-21' }),
  },
  { ...ECHOES, use: 'langchain_deepseek:ChatDeepSeek', wire: completions },
  { ...ECHOES, use: 'deerflow.models.patched_deepseek:PatchedChatDeepSeek', wire: completions },
  { ...ECHOES, use: 'deerflow.models.patched_mimo:PatchedChatMiMo', wire: completions },
  { ...ECHOES, use: 'deerflow.models.patched_stepfun:PatchedChatStepFun', wire: reasoning },
  {
    ...USUAL,
    use: 'deerflow.models.patched_openai:PatchedChatOpenAI',
    wire: createChatCompletionsWire({ signs: true }),
    sentBack: (signature) => [`"thought_signature":"${signature}"`],
  },
  {
    ...USUAL,
    use: 'deerflow.models.patched_minimax:PatchedChatMiniMax',
    wire: createChatCompletionsWire({ thoughts: 'reasoning_details' }),
  },
  {
    ...ECHOES,
    use: 'deerflow.models.vllm_provider:VllmChatModel',
    wire: reasoning,
    sentBack: () => ['"reasoning":"let me see"'],
  },
  {
    ...USUAL,
    use: 'deerflow.models.mindie_provider:MindIEChatModel',
    wire: mindIeWire,
    // Its whole replies come after a long silence, for which it has a time-out of its own.
    entry: (url, stallMs) => ({ base_url: url, request_timeout: stallMs / 1000 }),
    pieces: false,
    sees: false,
    idleIs: 'transient',
  },
  {
    ...USUAL,
    use: 'npm:@langchain/ollama#ChatOllama',
    wire: ollamaWire,
    thinking: { think: true },
    pieces: false,
    tellsLateErrors: false,
  },
];

/** How each adapter is given secrets, for tests that search for them afterwards. */
import { randomBytes } from 'node:crypto';
import { createChatCompletionsWire } from './chat-completions-wire';
import { PROVIDERS } from './providers';
import type { Wire } from './wire';

/** What stands for one secret; everything that is searched for contains it. */
export function newSecret(): string {
  return `plum${randomBytes(9).toString('hex')}`;
}

/** The secret as it stands in a text, in hex, and in base64 of whatever holds it at whichever offset. */
export function formsOf(secret: string): string[] {
  const encoded = [0, 1, 2].map((offset) =>
    // Characters at both ends depend on the neighbours.
    Buffer.from(`${' '.repeat(offset)}${secret}`)
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, Buffer.from(secret).toString('hex'), ...encoded];
}

export interface SecretScenario {
  use: string;
  /** As `PROVIDERS` has it. */
  variant: string;
  wire: Wire;
  /** How the provider answers a request that offers no tools. */
  wireWithoutTools: Wire;
  /** Where the key comes from: the file itself, a variable that the file names, or the login of a command line. */
  key: 'literal' | 'variable' | 'login' | 'login file';
  /** Keys of the entry with the provider's address. */
  address: (url: string) => object;
  /** Keys of the entry with this value of a header. */
  header: (value: string) => object;
  /** Whether the user is told what goes wrong in the middle of a reply. */
  tellsLateErrors: boolean;
}

type Own = Partial<Pick<SecretScenario, 'use' | 'variant' | 'key' | 'address' | 'header' | 'wireWithoutTools'>>;

const inClient = (value: string): object => ({ headers: { 'X-Gateway': value } });

/** By the value of `use` under which the adapter is registered, and what sets apart its wires. */
const SCENARIOS: Readonly<Record<string, Own>> = {
  'langchain_openai:ChatOpenAI': {},
  'langchain_openai:ChatOpenAI, over the Responses API': {
    use: 'langchain_openai:ChatOpenAI',
    variant: ', over the Responses API',
    key: 'variable',
  },
  'deerflow.models.openai_codex_provider:CodexChatModel': { key: 'login file' },
  'langchain_deepseek:ChatDeepSeek': { key: 'variable' },
  'deerflow.models.patched_deepseek:PatchedChatDeepSeek': {},
  'deerflow.models.patched_mimo:PatchedChatMiMo': { key: 'variable' },
  'deerflow.models.patched_stepfun:PatchedChatStepFun': {},
  'deerflow.models.patched_openai:PatchedChatOpenAI': { key: 'variable' },
  'deerflow.models.patched_minimax:PatchedChatMiniMax': {},
  'deerflow.models.vllm_provider:VllmChatModel': { key: 'variable' },
  'langchain_openai:AzureChatOpenAI': {
    // In a file, a version that is only a date would have to be quoted.
    address: (url) => ({ azure_endpoint: url, api_version: '2024-10-21-preview' }),
  },
  'langchain_anthropic:ChatAnthropic': { key: 'variable' },
  'deerflow.models.claude_provider:ClaudeChatModel': { key: 'login' },
  'langchain_google_genai:ChatGoogleGenerativeAI': {},
  'langchain_ollama:ChatOllama': { key: 'variable', header: inClient },
  'deerflow.models.mindie_provider:MindIEChatModel': { wireWithoutTools: createChatCompletionsWire() },
  'npm:<package>#<export>': { use: 'npm:@langchain/ollama#ChatOllama', key: 'variable', header: inClient },
};

export const SECRET_SCENARIOS: readonly SecretScenario[] = Object.entries(SCENARIOS).map(([name, own]) => {
  const { use = name, variant = '' } = own;
  const provider = PROVIDERS.find((candidate) => candidate.use === use && candidate.variant === variant);
  if (provider === undefined) throw new Error(`nothing is known of the wire of ${use}`);
  return {
    key: 'literal',
    header: (value) => ({ default_headers: { 'X-Gateway': value } }),
    wireWithoutTools: provider.wire,
    address: (url) => provider.entry(url, 60_000),
    ...own,
    use,
    variant,
    wire: provider.wire,
    tellsLateErrors: provider.tellsLateErrors,
  };
});

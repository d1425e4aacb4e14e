/**
 * Where each provider of managed models leads: the one table of addresses, adapters and defaults. To add one, take a
 * stable id and an address that the provider documents. What a model can do is said of explicit ids only: a provider
 * gives its models names that share words and nothing else.
 */
import type { ModelConfig } from '../../contracts/schemas/config';
import type { ManagedProvider } from '../../contracts/schemas/managed-models';

export interface Preset {
  label: string;
  /** Null: the administrator names it. */
  baseUrl: string | null;
  /** The adapter, as `models[].use` would name it. */
  use: string;
  needsKey: boolean;
  /** Whether models that nothing is known of can be told which tool to call. */
  forcesTools: boolean;
  defaults: Partial<Pick<ModelConfig, 'max_tokens' | 'temperature'>>;
}

const CHAT = 'langchain_openai:ChatOpenAI';
/** Keeps the reasoning of earlier replies and says `max_tokens`: other providers want that too. */
const REASONING_CHAT = 'deerflow.models.patched_deepseek:PatchedChatDeepSeek';
const MINIMAX_CHAT = 'deerflow.models.patched_minimax:PatchedChatMiniMax';

/** Another provider's service in the manner of chat completions, of whose models nothing is assumed. */
function thirdParty(
  label: string,
  baseUrl: string,
  use: string = REASONING_CHAT,
  defaults: Preset['defaults'] = {},
): Preset {
  return { label, baseUrl, use, needsKey: true, forcesTools: false, defaults };
}

export const PRESETS: Readonly<Record<ManagedProvider, Preset>> = {
  openai: {
    label: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    use: CHAT,
    needsKey: true,
    forcesTools: true,
    defaults: {},
  },
  anthropic: {
    label: 'Anthropic',
    baseUrl: 'https://api.anthropic.com',
    use: 'langchain_anthropic:ChatAnthropic',
    needsKey: true,
    forcesTools: true,
    // Its interface insists on a cap.
    defaults: { max_tokens: 4096 },
  },
  deepseek: {
    label: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    use: REASONING_CHAT,
    needsKey: true,
    forcesTools: true,
    defaults: {},
  },
  'qwen-cn': thirdParty('Alibaba Cloud Bailian / Qwen (China)', 'https://dashscope.aliyuncs.com/compatible-mode/v1'),
  doubao: thirdParty('Volcengine / Doubao (Beijing)', 'https://ark.cn-beijing.volces.com/api/v3'),
  'doubao-coding': thirdParty('Volcengine Coding Plan', 'https://ark.cn-beijing.volces.com/api/coding/v3'),
  'moonshot-cn': thirdParty('Moonshot / Kimi (China)', 'https://api.moonshot.cn/v1'),
  'zhipu-cn': thirdParty('Zhipu (China)', 'https://open.bigmodel.cn/api/paas/v4'),
  zai: thirdParty('Z.AI (international)', 'https://api.z.ai/api/paas/v4'),
  minimax: thirdParty('MiniMax (international)', 'https://api.minimax.io/v1', MINIMAX_CHAT, { temperature: 1 }),
  'minimax-cn': thirdParty('MiniMax (China)', 'https://api.minimaxi.com/v1', MINIMAX_CHAT, { temperature: 1 }),
  'openai-compatible': {
    label: 'OpenAI-compatible (custom)',
    baseUrl: null,
    use: CHAT,
    needsKey: false,
    forcesTools: true,
    defaults: {},
  },
};

/** What is known of single models, by their exact ids. */
export type Capabilities = Partial<Pick<ModelConfig, 'supports_vision' | 'context_window' | 'reasoning'>>;

const SEES = { supports_vision: true };
const CAPABILITIES: Partial<Record<ManagedProvider, Readonly<Record<string, Capabilities>>>> = {
  openai: {
    'gpt-4o': { ...SEES, context_window: 128_000 },
    'gpt-4o-mini': { ...SEES, context_window: 128_000 },
    'gpt-4.1': { ...SEES, context_window: 1_047_576 },
    'gpt-4.1-mini': { ...SEES, context_window: 1_047_576 },
  },
  deepseek: {
    'deepseek-chat': { context_window: 128_000 },
    'deepseek-reasoner': {
      context_window: 128_000,
      reasoning: { thinking: 'required', on_disable_request: 'keep_enabled', dialect: 'none' },
    },
  },
};

/** Null where nothing is known of the model. */
export function capabilitiesOf(provider: ManagedProvider, model: string): Capabilities | null {
  const known = CAPABILITIES[provider] ?? {};
  return Object.hasOwn(known, model) ? (known[model] ?? null) : null;
}

/** The address of DeepSeek itself, as records from before its preset name it. A proxy that only sounds like it is none. */
export function isDeepSeekAddress(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const isService = protocol === 'https:' && hostname === 'api.deepseek.com' && port === '';
  return isService && /^\/(v1\/?)?$/.test(pathname);
}

export const DEEPSEEK_USE = REASONING_CHAT;

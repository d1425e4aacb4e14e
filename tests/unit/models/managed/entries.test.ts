import { MANAGED_PROVIDERS, managedModelRecordSchema } from '../../../../contracts/schemas/managed-models';
import { configSchema } from '../../../../contracts/schemas/config';
import { PRESETS, withManagedModels } from '../../../../models/managed';
import { offeredEntries } from '../../../../models/managed/merge';

const KEY = 'sk-managed';
const record = (fields: object = {}) =>
  managedModelRecordSchema.parse({ name: 'm', model: 'x', api_key: KEY, revision: 'r', ...fields });
const entryOf = (fields: object) => offeredEntries([record(fields)])[0];

describe('a managed model', () => {
  it.each([
    ['openai', 'https://api.openai.com/v1', 'langchain_openai:ChatOpenAI'],
    ['anthropic', 'https://api.anthropic.com', 'langchain_anthropic:ChatAnthropic'],
    ['deepseek', 'https://api.deepseek.com', 'deerflow.models.patched_deepseek:PatchedChatDeepSeek'],
    ['qwen-cn', 'https://dashscope.aliyuncs.com/compatible-mode/v1', null],
    ['doubao', 'https://ark.cn-beijing.volces.com/api/v3', null],
    ['doubao-coding', 'https://ark.cn-beijing.volces.com/api/coding/v3', null],
    ['moonshot-cn', 'https://api.moonshot.cn/v1', null],
    ['zhipu-cn', 'https://open.bigmodel.cn/api/paas/v4', null],
    ['zai', 'https://api.z.ai/api/paas/v4', null],
    ['minimax', 'https://api.minimax.io/v1', 'deerflow.models.patched_minimax:PatchedChatMiniMax'],
    ['minimax-cn', 'https://api.minimaxi.com/v1', 'deerflow.models.patched_minimax:PatchedChatMiniMax'],
  ])('of %s is asked at %s', (provider, base_url, use) => {
    expect(entryOf({ provider })).toMatchObject({ base_url, api_key: KEY, ...(use === null ? {} : { use }) });
    expect(entryOf({ provider, base_url: 'https://elsewhere.example' })?.base_url).toBe(base_url);
  });

  it('is an entry that config.yaml could hold as well, for every provider', () => {
    const entries = MANAGED_PROVIDERS.map((provider) => entryOf({ provider, base_url: 'http://127.0.0.1/v1' }));
    expect(configSchema.parse({ models: entries }).models).toEqual(entries);
    expect(Object.keys(PRESETS)).toEqual([...MANAGED_PROVIDERS]);
  });

  it('promises nothing that is not known of it: names that only sound alike get no rule', () => {
    for (const model of ['gpt-4o-2030', 'my-gpt-4o', 'GPT-4o', 'toString', '__proto__']) {
      const entry = entryOf({ provider: 'openai', model });
      expect(entry).toMatchObject({
        supports_vision: false,
        supports_thinking: false,
        supports_reasoning_effort: false,
      });
      expect(entry).not.toHaveProperty('context_window');
    }
    expect(entryOf({ provider: 'openai-compatible', base_url: 'http://h/v1', model: 'gpt-4o' })?.supports_vision).toBe(
      false,
    );
  });

  it('takes the rule of its exact id, and the administrator’s word before it', () => {
    expect(entryOf({ provider: 'openai', model: 'gpt-4o' })).toMatchObject({
      supports_vision: true,
      context_window: 128_000,
    });
    const fields = { provider: 'openai', model: 'gpt-4o', supports_vision: false, context_window: 5, max_tokens: 7 };
    expect(entryOf(fields)).toMatchObject({ supports_vision: false, context_window: 5, max_tokens: 7 });
  });

  it('has the defaults that its provider needs', () => {
    expect(entryOf({ provider: 'anthropic' })).toMatchObject({ max_tokens: 4096 });
    expect(entryOf({ provider: 'anthropic', max_tokens: 100 })).toMatchObject({ max_tokens: 100 });
    expect(entryOf({ provider: 'minimax' })).toMatchObject({ temperature: 1 });
    expect(entryOf({ provider: 'openai' })).not.toHaveProperty('temperature');
  });

  it.each([
    ['https://api.deepseek.com', true],
    ['https://api.deepseek.com/v1', true],
    ['https://api.deepseek.com:443/v1/', true],
    ['http://api.deepseek.com', false],
    ['https://api.deepseek.com:8443', false],
    ['https://api.deepseek.com/beta', false],
    ['https://api.deepseek.com.example.org/v1', false],
    ['https://proxy.example.org/deepseek-chat', false],
  ])('of before the presets at %s goes through the adapter of DeepSeek: %s', (base_url, isDeepSeek) => {
    const use = entryOf({ base_url, model: 'deepseek-chat' })?.use;
    expect(use).toBe(isDeepSeek ? PRESETS.deepseek.use : 'langchain_openai:ChatOpenAI');
  });
});

describe('the models that are offered', () => {
  const file = configSchema.parse({ models: [{ name: 'a', use: 'u', model: 'of the file' }] });
  const managed = offeredEntries([record({ name: 'a' }), record({ name: 'b' }), record({ name: 'c', enabled: false })]);

  it('are those of the file, then managed ones of other names that are enabled', () => {
    const { models } = withManagedModels(file, managed);
    expect(models.map(({ name, model }) => [name, model])).toEqual([
      ['a', 'of the file'],
      ['b', 'x'],
    ]);
    expect(file.models).toHaveLength(1);
  });

  it('are the configuration itself where nothing is added', () => {
    expect(withManagedModels(file, managed.slice(0, 1))).toBe(file);
  });
});

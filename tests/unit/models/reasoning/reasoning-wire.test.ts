import { configSchema } from '../../../../contracts/schemas/config';
import type { ReasoningWish } from '../../../../core/reasoning';
import { createChatModelFactory } from '../../../../models';
import { createLogger } from '../../../../observability';
import type { FakeModel } from '../../../support/fake-model';
import { say, startFakeModel } from '../../../support/fake-model';
import { newCall } from '../support';

let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.requests.length = 0;
});

function factory(entry: object) {
  const lines: string[] = [];
  const log = createLogger({ name: 'test', destination: { write: (line) => void lines.push(line) } });
  const base = {
    name: 'lead',
    use: 'langchain_openai:ChatOpenAI',
    model: 'm',
    api_key: 'sk-x',
    base_url: fake.baseUrl,
  };
  const config = configSchema.parse({ models: [{ ...base, ...entry }] });
  return { lines, ...createChatModelFactory({ config, log }) };
}

/** The keys that the provider got beside those of every request. */
async function wire(entry: object, wish: Partial<ReasoningWish>): Promise<Record<string, unknown>> {
  fake.script('default', [say('ok')]);
  await factory(entry)
    .resolve('lead', { thinking: null, effort: null, ...wish })
    .reply(newCall().request);
  const common = ['model', 'messages', 'tools', 'stream', 'stream_options'];
  const body = { ...fake.requests.at(-1)?.body } as Record<string, unknown>;
  return Object.fromEntries(Object.entries(body).filter(([key]) => !common.includes(key)));
}

const effort = { values: ['low', 'high'], aliases: { medium: 'high' } };

describe('what a provider of chat completions gets', () => {
  it('while nothing is configured about reasoning is nothing about it, whatever is asked', async () => {
    expect(await wire({}, { thinking: true, effort: 'high' })).toEqual({});
    expect(await wire({}, { thinking: false })).toEqual({});
  });

  it('of a model that always thinks and has no switch is its effort, and nothing else', async () => {
    const entry = { reasoning: { thinking: 'required', dialect: 'none', effort } };
    expect(await wire(entry, { thinking: false, effort: 'xhigh' })).toEqual({});
    expect(await wire(entry, { thinking: false, effort: 'medium' })).toEqual({ reasoning_effort: 'high' });
    expect(await wire(entry, { thinking: true, effort: 'low' })).toEqual({ reasoning_effort: 'low' });
  });

  it('in a body switch are its settings at the top of the body', async () => {
    const entry = { reasoning: { thinking: 'optional', dialect: 'openai_extra_body', history: 'preserve', effort } };
    expect(await wire(entry, { thinking: true, effort: 'low' })).toEqual({
      thinking: { type: 'enabled', clear_thinking: false },
      reasoning_effort: 'low',
    });
    expect(await wire(entry, { thinking: false })).toEqual({ thinking: { type: 'disabled' } });
  });

  it('in a chat template are its arguments', async () => {
    const entry = { reasoning: { thinking: 'optional', dialect: 'vllm_chat_template' } };
    expect(await wire(entry, { thinking: true })).toEqual({ chat_template_kwargs: { enable_thinking: true } });
    expect(await wire(entry, { thinking: false })).toEqual({ chat_template_kwargs: { enable_thinking: false } });
  });

  it.each(['anthropic', 'ollama'])('in the dialect %s, which it does not speak, is nothing', async (dialect) => {
    expect(await wire({ reasoning: { thinking: 'optional', dialect } }, { thinking: true })).toEqual({});
  });

  it('for an effort with a path of its own is the effort there', async () => {
    const at = (path: string) => ({ reasoning: { thinking: 'unsupported', effort: { values: ['low'], path } } });
    expect(await wire(at('extra_body.output_config.effort'), { effort: 'low' })).toEqual({
      output_config: { effort: 'low' },
    });
    expect(await wire(at('model_kwargs.reasoning.effort'), { effort: 'low' })).toEqual({
      reasoning: { effort: 'low' },
    });
  });

  it('of an entry as the older documentation shows it is its template', async () => {
    const entry = {
      supports_thinking: true,
      when_thinking_enabled: { extra_body: { thinking: { type: 'enabled' } } },
      extra_body: { tool_stream: true },
    };
    expect(await wire(entry, { thinking: 'preferred' })).toEqual({ thinking: { type: 'enabled' }, tool_stream: true });
    expect(await wire({ ...entry, supports_reasoning_effort: true }, { thinking: false })).toEqual({
      thinking: { type: 'disabled' },
      tool_stream: true,
      reasoning_effort: 'minimal',
    });
  });
});

describe('the models of one entry', () => {
  it('are one per wish, and the operator reads once what each had to change', () => {
    const { resolve, adjustments, lines } = factory({ reasoning: { thinking: 'required', dialect: 'none', effort } });
    const wish = { thinking: false, effort: 'xhigh' };
    const model = resolve('lead', wish);
    expect(resolve('lead', { ...wish })).toBe(model);
    expect(resolve('lead', { thinking: true, effort: null })).not.toBe(model);
    expect(adjustments('lead', wish)).toEqual(['thinking_forced_on', 'effort_unsupported_value']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"adjustments":["thinking_forced_on","effort_unsupported_value"]');
  });

  it('do not pile up with the wishes of requests', () => {
    const { resolve } = factory({ supports_reasoning_effort: true });
    const first = resolve('lead', { thinking: null, effort: 'e0' });
    for (let count = 1; count <= 250; count += 1) resolve('lead', { thinking: null, effort: `e${count}` });
    expect(resolve('lead', { thinking: null, effort: 'e0' })).not.toBe(first);
  });

  it('are none where the entry refuses the wish', () => {
    const { resolve } = factory({ reasoning: { thinking: 'required', on_disable_request: 'reject' } });
    expect(() => resolve('lead', { thinking: false, effort: null })).toThrow(
      expect.objectContaining({ code: 'thinking_required' }),
    );
    expect(resolve('lead').name).toBe('lead');
  });
});

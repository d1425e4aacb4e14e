import { modelConfigSchema } from '../../../../contracts/schemas/config/models';
import type { ReasoningWish } from '../../../../core/reasoning';
import { applyReasoning } from '../../../../models/reasoning';

const BASE = { name: 'lead', use: 'langchain_openai:ChatOpenAI', model: 'm' };
const ON = { thinking: true };
const OFF = { thinking: false };

/** What the provider is sent beside what every entry has. */
function sent(entry: object, wish: Partial<ReasoningWish>): Record<string, unknown> {
  const { entry: applied } = applyReasoning(modelConfigSchema.parse({ ...BASE, ...entry }), {
    thinking: null,
    effort: null,
    ...wish,
  });
  const hidden = ['name', 'use', 'model', 'supports_thinking', 'supports_reasoning_effort', 'supports_vision'];
  return Object.fromEntries(Object.entries(applied).filter(([key]) => !hidden.includes(key)));
}

const BODY = { supports_thinking: true, when_thinking_enabled: { extra_body: { thinking: { type: 'enabled' } } } };
const VLLM = {
  supports_thinking: true,
  when_thinking_enabled: { extra_body: { chat_template_kwargs: { thinking: true } } },
};

describe('an entry with the two flags', () => {
  it('sends its template while thinking is on, and nothing of it while nobody asks', () => {
    expect(sent(BODY, ON)).toEqual({ extra_body: { thinking: { type: 'enabled' } } });
    expect(sent(BODY, {})).toEqual({});
    expect(sent({ ...BODY, supports_thinking: false }, ON)).toEqual({ extra_body: { thinking: { type: 'disabled' } } });
  });

  it('sends its own template for off, where it has one', () => {
    expect(sent({ ...BODY, when_thinking_disabled: { extra_body: { think: 0 } } }, OFF)).toEqual({
      extra_body: { think: 0 },
    });
    expect(sent({ when_thinking_disabled: { top_p: 0.5 } }, OFF)).toEqual({ top_p: 0.5 });
  });

  it('turns off what its template turns on: the body, with the least effort where the model takes one', () => {
    const off = { extra_body: { thinking: { type: 'disabled' } } };
    expect(sent(BODY, { ...OFF, effort: 'high' })).toEqual(off);
    expect(sent({ ...BODY, supports_reasoning_effort: true }, { ...OFF, effort: 'high' })).toEqual({
      ...off,
      reasoning_effort: 'minimal',
    });
  });

  it('turns off what its template turns on: the chat template, under the name that it uses', () => {
    expect(sent(VLLM, OFF)).toEqual({ extra_body: { chat_template_kwargs: { thinking: false } } });
    const other = { when_thinking_enabled: { extra_body: { chat_template_kwargs: { enable_thinking: true, x: 1 } } } };
    expect(sent(other, OFF)).toEqual({ extra_body: { chat_template_kwargs: { enable_thinking: false } } });
  });

  it('tells both names of a chat template the same', () => {
    const entry = { ...VLLM, extra_body: { chat_template_kwargs: { enable_thinking: false, add: 1 } } };
    expect(sent(entry, ON)).toEqual({
      extra_body: { chat_template_kwargs: { enable_thinking: true, thinking: true, add: 1 } },
    });
    const enabled = { ...entry, extra_body: { chat_template_kwargs: { enable_thinking: true } } };
    expect(sent(enabled, OFF)).toEqual({
      extra_body: { chat_template_kwargs: { enable_thinking: false, thinking: false } },
    });
  });

  it('turns off what its template turns on: the provider that takes it as a key of its own', () => {
    const entry = { supports_thinking: true, thinking: { type: 'enabled', budget_tokens: 9 } };
    expect(sent(entry, ON)).toEqual({ thinking: { type: 'enabled', budget_tokens: 9 } });
    expect(sent(entry, OFF)).toEqual({ thinking: { type: 'disabled' } });
    expect(sent(entry, {})).toEqual({});
  });

  it('joins the short form to its template', () => {
    const entry = {
      supports_thinking: true,
      thinking: { budget_tokens: 9 },
      when_thinking_enabled: { thinking: { type: 'enabled', budget_tokens: 1 }, top_k: 3 },
    };
    expect(sent(entry, ON)).toEqual({ thinking: { type: 'enabled', budget_tokens: 9 }, top_k: 3 });
  });

  it('keeps the other keys of its body; its template wins where both have one', () => {
    const entry = { ...BODY, extra_body: { tool_stream: true, thinking: { type: 'auto', extra: 1 } } };
    expect(sent(entry, ON)).toEqual({ extra_body: { tool_stream: true, thinking: { type: 'enabled', extra: 1 } } });
  });

  it('passes an effort on only with its flag; the request wins over the profile, the template over both', () => {
    const effort = 'low';
    expect(sent({ reasoning_effort: 'high' }, { effort })).toEqual({});
    expect(sent({ supports_reasoning_effort: true, reasoning_effort: 'high' }, {})).toEqual({
      reasoning_effort: 'high',
    });
    expect(sent({ supports_reasoning_effort: true, reasoning_effort: 'high' }, { effort })).toEqual({
      reasoning_effort: 'low',
    });
    const template = {
      supports_thinking: true,
      supports_reasoning_effort: true,
      when_thinking_enabled: { reasoning_effort: 'max' },
    };
    expect(sent(template, { ...ON, effort })).toEqual({ reasoning_effort: 'max' });
  });

  it.each([true, false, 'low'])('passes a reasoning of %j on as it is', (reasoning) => {
    expect(sent({ reasoning }, ON)).toEqual({ reasoning });
  });

  it('says with the effort that thinking is off where the endpoint has no switch', () => {
    const codex = { use: 'deerflow.models.openai_codex_provider:CodexChatModel', supports_thinking: true };
    expect(sent(codex, OFF)).toEqual({ reasoning_effort: 'none' });
    expect(sent({ ...codex, supports_reasoning_effort: true }, { ...ON, effort: 'xhigh' })).toEqual({
      reasoning_effort: 'xhigh',
    });
  });
});

describe('an entry with a contract', () => {
  const contract = (dialect: string, more: object = {}) => ({ reasoning: { thinking: 'optional', dialect, ...more } });

  it.each([
    [
      'openai_extra_body',
      { extra_body: { thinking: { type: 'enabled' } } },
      { extra_body: { thinking: { type: 'disabled' } } },
    ],
    ['anthropic', { thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
    [
      'vllm_chat_template',
      { extra_body: { chat_template_kwargs: { enable_thinking: true } } },
      { extra_body: { chat_template_kwargs: { enable_thinking: false } } },
    ],
    ['ollama', { reasoning: true }, { reasoning: false }],
    ['none', {}, {}],
    ['auto', {}, {}],
  ])('switches in the dialect %s', (dialect, on, off) => {
    expect(sent(contract(dialect), ON)).toEqual(on);
    expect(sent(contract(dialect), OFF)).toEqual(off);
    expect(sent(contract(dialect), {})).toEqual({});
  });

  it.each([
    [{ extra_body: { thinking: { type: 'on' } } }, { extra_body: { thinking: { type: 'disabled' } } }],
    [{ thinking: { type: 'adaptive' } }, { thinking: { type: 'disabled' } }],
    [
      { extra_body: { chat_template_kwargs: { enable_thinking: true } } },
      { extra_body: { chat_template_kwargs: { enable_thinking: false } } },
    ],
    [{ reasoning: 'high' }, { reasoning: false }],
    [{ top_k: 1 }, {}],
  ])('finds the dialect of its template %j', (when_thinking_enabled, off) => {
    const entry = { ...contract('auto'), when_thinking_enabled };
    expect(sent(entry, ON)).toEqual(when_thinking_enabled);
    expect(sent(entry, OFF)).toEqual(off);
  });

  it('lets its template win over the dialect, and add to it', () => {
    const when_thinking_enabled = { extra_body: { thinking: { type: 'adaptive', budget: 5 } }, top_p: 1 };
    expect(sent({ ...contract('openai_extra_body', { history: 'clear' }), when_thinking_enabled }, ON)).toEqual({
      extra_body: { thinking: { type: 'adaptive', budget: 5, clear_thinking: true } },
      top_p: 1,
    });
  });

  it.each([
    ['clear', true],
    ['preserve', false],
  ])('tells the provider to %s earlier thoughts', (history, clear_thinking) => {
    expect(sent(contract('openai_extra_body', { history }), ON)).toEqual({
      extra_body: { thinking: { type: 'enabled', clear_thinking } },
    });
    expect(sent(contract('vllm_chat_template', { history }), ON)).toEqual({
      extra_body: { chat_template_kwargs: { enable_thinking: true } },
    });
  });

  it('that always thinks sends its switch whatever is asked, and never the one for off', () => {
    const entry = contract('openai_extra_body', { thinking: 'required' });
    for (const thinking of [true, false, null, 'preferred'] as const) {
      expect(sent(entry, { thinking })).toEqual({ extra_body: { thinking: { type: 'enabled' } } });
    }
  });

  it('that always thinks without a dialect sends no switch at all', () => {
    const entry = contract('none', { thinking: 'required', effort: { values: ['low', 'high'] } });
    expect(sent(entry, { ...OFF, effort: 'xhigh' })).toEqual({});
    expect(sent(entry, { ...OFF, effort: 'low' })).toEqual({ reasoning_effort: 'low' });
  });

  it('that never thinks knows no switch, but what its operator wrote for off', () => {
    const entry = contract('openai_extra_body', { thinking: 'unsupported' });
    expect(sent(entry, ON)).toEqual({});
    expect(sent({ ...entry, when_thinking_disabled: { top_p: 1 } }, ON)).toEqual({ top_p: 1 });
  });

  it('writes the effort last, at its path, over what the template says', () => {
    const effort = { values: ['low', 'max'], default: 'low', path: 'extra_body.output.effort' };
    const entry = {
      ...contract('none', { effort }),
      extra_body: { keep: 1, output: 'gone' },
      when_thinking_enabled: { extra_body: { output: { effort: 'low', format: 'y' } } },
    };
    expect(sent(entry, { ...ON, effort: 'max' })).toEqual({
      extra_body: { keep: 1, output: { effort: 'max', format: 'y' } },
    });
    expect(sent(entry, OFF)).toEqual({ extra_body: { keep: 1, output: { effort: 'low' } } });
  });

  it('without a menu passes no effort on, not even the one of its profile', () => {
    expect(sent({ ...contract('none'), reasoning_effort: 'high' }, { effort: 'low' })).toEqual({});
  });

  it('keeps the effort of its template where nobody chooses one', () => {
    const entry = {
      ...contract('none', { effort: { values: ['low'] } }),
      when_thinking_enabled: { reasoning_effort: 'low' },
    };
    expect(sent(entry, ON)).toEqual({ reasoning_effort: 'low' });
  });
});

it('changes nothing of the configuration, and shares nothing with it', () => {
  const configured = modelConfigSchema.parse({
    ...BASE,
    ...BODY,
    extra_body: { list: [1] },
    when_thinking_enabled: { extra_body: { thinking: { type: 'enabled', tags: ['a'] } } },
  });
  const before = structuredClone(configured);
  const { entry } = applyReasoning(configured, { thinking: true, effort: null });
  const body = entry['extra_body'] as { thinking: { tags: string[] } };
  body.thinking.tags.push('b');
  expect(configured).toEqual(before);
});

it('treats a key of a template that means something to JavaScript like any other', () => {
  const template = JSON.parse('{"extra_body": {"__proto__": {"polluted": true}}}') as Record<string, unknown>;
  const { entry } = applyReasoning(
    { ...modelConfigSchema.parse({ ...BASE, supports_thinking: true }), when_thinking_enabled: template },
    { thinking: true, effort: null },
  );
  expect(JSON.stringify(entry['extra_body'])).toBe('{"__proto__":{"polluted":true}}');
  expect(Object.getPrototypeOf(entry['extra_body'])).toBe(Object.prototype);
});

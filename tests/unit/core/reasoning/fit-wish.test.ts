import { fitWish, reasoningContract, runWish } from '../../../../core/reasoning';
import type { ReasoningWish } from '../../../../core/reasoning';

const NO_FLAGS = { supports_thinking: false, supports_reasoning_effort: false };

function fit(entry: Record<string, unknown>, wish: Partial<ReasoningWish>) {
  const contract = reasoningContract({ ...NO_FLAGS, ...entry });
  return fitWish('lead', contract, { thinking: null, effort: null, ...wish });
}

const REQUIRED = {
  reasoning: { thinking: 'required', effort: { values: ['low', 'high'], aliases: { medium: 'high' } } },
};

describe('what a run wants', () => {
  it('is to think where its model can, without being told off where it cannot', () => {
    expect(runWish({})).toEqual({ thinking: 'preferred', effort: null });
    expect(fit({}, runWish({}))).toEqual({ thinking: false, effort: null, adjustments: [] });
    expect(fit({ supports_thinking: true }, runWish({}))).toMatchObject({ thinking: true, adjustments: [] });
  });

  it('is what its request says, whatever its mode is called', () => {
    expect(runWish({ thinking_enabled: false, reasoning_effort: 'high', mode: 'ultra' })).toEqual({
      thinking: false,
      effort: 'high',
    });
  });
});

describe('thinking', () => {
  it.each([
    ['that cannot think is turned off, and says so', {}, true, false, ['thinking_unsupported']],
    ['that cannot think is off anyway', {}, false, false, []],
    ['that can is on', { supports_thinking: true }, true, true, []],
    ['that can is off', { supports_thinking: true }, false, false, []],
    ['that can is left alone', { supports_thinking: true }, null, null, []],
    ['that must is on', REQUIRED, true, true, []],
    ['that must is on where nobody asks', REQUIRED, null, true, []],
    ['that must is on where it should be off, and says so', REQUIRED, false, true, ['thinking_forced_on']],
    [
      'whose contract rules it out is off',
      { reasoning: { thinking: 'unsupported' } },
      true,
      false,
      ['thinking_unsupported'],
    ],
    [
      'whose contract wins over its flag',
      { supports_thinking: true, reasoning: { thinking: 'unsupported' } },
      true,
      false,
      ['thinking_unsupported'],
    ],
  ] as const)('of a model %s', (_title, entry, thinking, value, adjustments) => {
    expect(fit(entry, { thinking })).toMatchObject({ thinking: value, adjustments });
  });

  it('that must not be turned off is a refusal with the name of the model', () => {
    const entry = { reasoning: { thinking: 'required', on_disable_request: 'reject' } };
    expect(() => fit(entry, { thinking: false })).toThrow(
      expect.objectContaining({ code: 'thinking_required', status: 400, message: expect.stringContaining("'lead'") }),
    );
    expect(fit(entry, { thinking: true }).thinking).toBe(true);
    expect(fit(entry, { thinking: null }).thinking).toBe(true);
  });
});

describe('effort', () => {
  const menu = (more: object = {}) => ({
    reasoning: { thinking: 'optional', effort: { values: ['low', 'high'], aliases: { medium: 'high' }, ...more } },
  });

  it.each([
    ['of the menu goes as it is', menu(), 'low', 'low', []],
    ['with another word goes as the word of the menu', menu(), 'medium', 'high', ['effort_aliased']],
    ['that is not on the menu goes nowhere', menu(), 'xhigh', null, ['effort_unsupported_value']],
    ['that is not on the menu is the default', menu({ default: 'low' }), 'xhigh', 'low', ['effort_unsupported_value']],
    ['that nobody names is the default', menu({ default: 'low' }), null, 'low', []],
    ['that nobody names is left to the model', menu(), null, null, []],
    ['is no name of something else', menu(), 'constructor', null, ['effort_unsupported_value']],
    [
      'of a model without a menu goes nowhere',
      { reasoning: { thinking: 'optional' } },
      'low',
      null,
      ['effort_unsupported'],
    ],
    ['of a model with the flag goes as it is', { supports_reasoning_effort: true }, 'xhigh', 'xhigh', []],
    ['with the flag is a word', { supports_reasoning_effort: true }, 'a b\n', null, ['effort_unsupported_value']],
    ['of a model without the flag goes nowhere', {}, 'low', null, ['effort_unsupported']],
  ] as const)('%s', (_title, entry, effort, value, adjustments) => {
    expect(fit(entry, { effort })).toMatchObject({ effort: value, adjustments });
  });
});

describe('a contract', () => {
  it('that is only a word or a flag is none: the booleans count', () => {
    for (const reasoning of [true, 'low', null, undefined, ['x']]) {
      expect(reasoningContract({ ...NO_FLAGS, supports_thinking: true, reasoning })).toMatchObject({
        source: 'legacy',
        thinking: 'optional',
        effort: null,
      });
    }
  });

  it('has every choice that it leaves out', () => {
    expect(reasoningContract({ ...NO_FLAGS, reasoning: { thinking: 'optional', effort: { values: ['a'] } } })).toEqual({
      thinking: 'optional',
      effort: { values: ['a'], default: null, aliases: {}, path: 'reasoning_effort', strict: true },
      onDisableRequest: 'keep_enabled',
      dialect: 'auto',
      history: null,
      source: 'contract',
    });
  });
});

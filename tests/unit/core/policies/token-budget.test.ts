import { budgetHint, exceededBudget } from '../../../../core/policies';
import type { TokenBudget } from '../../../../core/policies';

const BUDGET: TokenBudget = {
  enabled: true,
  max_tokens: 1000,
  max_input_tokens: null,
  max_output_tokens: null,
  warn_threshold: 0.8,
  hard_stop_threshold: 1,
};
const used = (input: number, output = 0) => ({ input, output, total: input + output });

test('a run is neither warned nor stopped while no budget is configured', () => {
  expect(budgetHint({ ...BUDGET, enabled: false }, used(9_000))).toBeNull();
  expect(exceededBudget({ ...BUDGET, enabled: false }, used(9_000))).toBeNull();
});

test('the model is warned from the threshold on, in a message that no user sees', () => {
  expect(budgetHint(BUDGET, used(799))).toBeNull();
  expect(budgetHint(BUDGET, used(700, 100))).toMatchObject({
    type: 'human',
    name: 'budget_warning',
    additional_kwargs: { hide_from_ui: true },
    content: expect.stringMatching(/^\[TOKEN BUDGET WARNING\].*800 of 1000 tokens \(80 %\)/),
  });
});

test('a run is stopped at the hard threshold', () => {
  expect(exceededBudget(BUDGET, used(999))).toBeNull();
  expect(exceededBudget(BUDGET, used(1000))).toMatch(/^\[TOKEN BUDGET EXCEEDED\]/);
  expect(exceededBudget({ ...BUDGET, hard_stop_threshold: 0.9 }, used(900))).not.toBeNull();
});

test('a limit of one side counts for itself, and the fullest one is told', () => {
  const sides = { ...BUDGET, max_input_tokens: 100, max_output_tokens: 50 };
  expect(budgetHint(sides, used(80, 10))?.content).toMatch(/80 of 100 input tokens/);
  expect(exceededBudget(sides, used(10, 50))).toMatch(/50 of 50 output tokens/);
  expect(exceededBudget(sides, used(99, 49))).toBeNull();
});

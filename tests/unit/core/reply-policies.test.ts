import type { AiMessage } from '../../../contracts';
import { configSchema } from '../../../contracts/schemas/config';
import { budgetWarning, judgeReply, safetyDetectorName } from '../../../core/reply-policies';
import type { TokenTotals } from '../../../core/reply-policies';

const NOTHING: TokenTotals = { input: 0, output: 0, total: 0 };

const configOf = (document: object) => configSchema.parse(document);
const reply = (parts: Partial<AiMessage> = {}): AiMessage => ({
  type: 'ai',
  id: 'm',
  name: null,
  content: '',
  tool_calls: [],
  invalid_tool_calls: [],
  usage_metadata: null,
  additional_kwargs: {},
  response_metadata: {},
  ...parts,
});
const CALL = { type: 'tool_call' as const, id: 'c1', name: 'bash', args: { command: 'secret thing' } };
const judge = (message: AiMessage, finishReason: string | null, document: object = {}, spent = NOTHING) =>
  judgeReply(message, { threadId: 't', finishReason, spent, config: configOf(document) });

describe('a reply that a safety filter stopped', () => {
  it.each([
    ['openai_compatible_content_filter', 'finish_reason', 'content_filter', {}],
    ['anthropic_refusal', 'stop_reason', 'refusal', { stop_reason: 'refusal' }],
    ['gemini_safety', 'finish_reason', 'PROHIBITED_CONTENT', { finish_reason: 'PROHIBITED_CONTENT' }],
  ])('loses its calls and says which filter it was: %s', (detector, field, value, metadata) => {
    const judged = judge(reply({ tool_calls: [CALL], response_metadata: metadata }), value);
    expect(judged.stopReason).toBe('safety_capped');
    expect(judged.message.tool_calls).toEqual([]);
    expect(judged.message.content).toMatch(/content rules/);
    expect(judged.notices).toEqual([
      {
        type: 'safety_termination',
        detector,
        reason_field: field,
        reason_value: value,
        suppressed_tool_call_count: 1,
        suppressed_tool_call_names: ['bash'],
        thread_id: 't',
      },
    ]);
    expect(judged.journal[0]).toMatchObject({ eventType: 'middleware:safety_termination' });
    expect(JSON.stringify(judged)).not.toContain('secret thing');
  });

  it('keeps the text that was let through as it is', () => {
    const message = reply({ content: 'half an ans' });
    expect(judge(message, 'content_filter')).toMatchObject({ message, stopReason: 'safety_capped', notices: [] });
  });

  it('is an ordinary one where the policy is off or has other detectors', () => {
    const message = reply({ tool_calls: [CALL] });
    const only = { safety_finish_reason: { detectors: [{ use: 'gemini_safety' }] } };
    expect(judge(message, 'content_filter', { safety_finish_reason: { enabled: false } }).message).toBe(message);
    expect(judge(message, 'content_filter', only).message).toBe(message);
    expect(judge(message, 'stop')).toMatchObject({ message, stopReason: null });
  });

  it.each([
    ['deerflow.agents.safety:OpenAICompatibleContentFilterDetector', 'openai_compatible_content_filter'],
    ['deerflow.agents.safety:AnthropicRefusalDetector', 'anthropic_refusal'],
    ['gemini_safety', 'gemini_safety'],
    ['example:Unknown', null],
  ])('is found by detectors as DeerFlow names them: %s', (use, name) => {
    expect(safetyDetectorName(use)).toBe(name);
  });
});

describe('a reply that reached the length limit', () => {
  it('as a text ends the run and says so', () => {
    expect(judge(reply({ content: 'long' }), 'length')).toMatchObject({
      stopReason: 'model_length_capped',
      message: { content: 'long' },
    });
  });

  it('in the middle of a call loses the call and tells the user', () => {
    const cut = { type: 'invalid_tool_call' as const, id: 'c1', name: 'bash', args: '{"comm', error: 'no JSON' };
    const judged = judge(reply({ content: 'So:', tool_calls: [CALL], invalid_tool_calls: [cut] }), 'max_tokens');
    expect(judged.stopReason).toBe('model_length_capped');
    expect(judged.message).toMatchObject({ tool_calls: [], invalid_tool_calls: [] });
    expect(judged.message.content).toMatch(/^So:\n\n.*length limit/);
  });

  it('after whole calls goes on with them', () => {
    const message = reply({ tool_calls: [CALL] });
    expect(judge(message, 'length')).toMatchObject({ message, stopReason: null });
  });
});

describe('the token budget of a run', () => {
  const budget = (parts: object = {}) => ({ token_budget: { enabled: true, max_tokens: 1000, ...parts } });
  const spent = (input: number, output: number): TokenTotals => ({ input, output, total: input + output });

  it('takes the calls of the reply that reaches it, and says why the run ends', () => {
    const message = reply({ tool_calls: [CALL], response_metadata: { finish_reason: 'tool_calls' } });
    expect(judge(message, 'tool_calls', budget(), spent(900, 99)).message).toBe(message);
    const judged = judge(message, 'tool_calls', budget(), spent(900, 100));
    expect(judged).toMatchObject({
      stopReason: 'token_capped',
      message: { tool_calls: [], response_metadata: { finish_reason: 'stop' } },
    });
    expect(judged.message.content).toMatch(/^\[TOKEN BUDGET EXCEEDED\]/);
  });

  it('leaves an answer without calls alone: the run ends anyway', () => {
    const message = reply({ content: 'done' });
    expect(judge(message, 'stop', budget(), spent(5000, 0))).toMatchObject({ message, stopReason: null });
  });

  it('has limits for each side, and the first that is reached counts', () => {
    const message = reply({ tool_calls: [CALL] });
    expect(judge(message, null, budget({ max_output_tokens: 10 }), spent(1, 10)).stopReason).toBe('token_capped');
    expect(judge(message, null, budget({ max_input_tokens: 10 }), spent(10, 1)).stopReason).toBe('token_capped');
  });

  it('warns the model from its threshold on, and never while it is off', () => {
    const config = configOf(budget()).token_budget;
    expect(budgetWarning(spent(700, 99), config)).toBeNull();
    expect(budgetWarning(spent(700, 100), config)).toMatch(/^\[TOKEN BUDGET WARNING\] 80%/);
    expect(budgetWarning(spent(10_000, 0), configOf({}).token_budget)).toBeNull();
  });
});

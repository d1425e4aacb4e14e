import type { AiMessage } from '../../../../contracts';
import { judgeReply } from '../../../../core/policies';
import { aiMessage } from '../../../support/run-fixtures';

const FACTS = { finishReason: 'stop', threadId: 't', safety: null, exceeded: null };
const SAFETY = { detector: 'anthropic_refusal', reasonField: 'stop_reason', reasonValue: 'refusal' };

function calling(text: string, ...names: string[]): AiMessage {
  return {
    ...aiMessage(text, 'm'),
    tool_calls: names.map((name, place) => ({ type: 'tool_call', id: `c${place}`, name, args: { secret: 'value' } })),
    invalid_tool_calls: [{ type: 'invalid_tool_call', id: 'c0', name: 'x', args: '{', error: 'cut' }],
    response_metadata: { finish_reason: 'tool_calls' },
  };
}

test('an ordinary reply is taken as it is', () => {
  const message = calling('text', 'bash');
  expect(judgeReply(message, { ...FACTS, finishReason: 'tool_calls' })).toEqual({
    message,
    stopReason: null,
    added: '',
    notices: [],
    journal: [],
  });
});

describe('a reply that was cut off for its length', () => {
  test.each(['length', 'max_tokens', 'MAX_TOKENS'])('by %s is kept, and the run says so', (finishReason) => {
    const judged = judgeReply(aiMessage('half a story'), { ...FACTS, finishReason });
    expect(judged).toMatchObject({ stopReason: 'model_length_capped', message: { content: 'half a story' } });
  });

  test('runs none of its tool calls, and tells the user behind what the model said', () => {
    const { message, added, stopReason } = judgeReply(calling('I will', 'bash'), { ...FACTS, finishReason: 'length' });
    expect(message).toMatchObject({ tool_calls: [], invalid_tool_calls: [] });
    expect(message.content).toBe(`I will${added}`);
    expect(added).toMatch(/cut off/);
    expect(stopReason).toBe('model_length_capped');
  });
});

describe('a reply that the provider’s filter stopped', () => {
  test('loses its tool calls, is explained, and is journalled without their arguments', () => {
    const judged = judgeReply(calling('', 'bash', 'ls'), { ...FACTS, safety: SAFETY });
    expect(judged.message).toMatchObject({
      tool_calls: [],
      content: expect.stringMatching(/content rules/),
      additional_kwargs: { safety_termination: { detector: 'anthropic_refusal', reason_value: 'refusal' } },
    });
    expect(judged.stopReason).toBe('safety_capped');
    expect(judged.notices).toEqual([
      {
        kind: 'custom',
        payload: {
          type: 'safety_termination',
          detector: 'anthropic_refusal',
          reason_field: 'stop_reason',
          reason_value: 'refusal',
          suppressed_tool_call_count: 2,
          suppressed_tool_call_names: ['bash', 'ls'],
          thread_id: 't',
        },
      },
    ]);
    expect(judged.journal).toMatchObject([
      { eventType: 'middleware:safety_termination', content: { action: 'suppress_tool_calls', hook: 'after_model' } },
    ]);
    expect(JSON.stringify(judged)).not.toContain('"secret"');
  });

  test('keeps text that the filter let through', () => {
    const judged = judgeReply(aiMessage('the beginning'), { ...FACTS, safety: SAFETY });
    expect(judged).toMatchObject({ message: { content: 'the beginning' }, added: '', stopReason: 'safety_capped' });
  });

  test('is a matter of safety also where it reached its length and the end of the budget', () => {
    const facts = { ...FACTS, finishReason: 'length', exceeded: '[TOKEN BUDGET EXCEEDED]', safety: SAFETY };
    expect(judgeReply(calling('', 'bash'), facts).stopReason).toBe('safety_capped');
  });
});

describe('a reply behind the end of the token budget', () => {
  const exceeded = '[TOKEN BUDGET EXCEEDED] 1 of 1';

  test('loses its tool calls, and ends in order', () => {
    expect(judgeReply(calling('so far', 'bash'), { ...FACTS, finishReason: 'tool_calls', exceeded })).toMatchObject({
      stopReason: 'token_capped',
      message: {
        content: `so far\n\n${exceeded}`,
        tool_calls: [],
        response_metadata: { finish_reason: 'stop' },
      },
    });
  });

  test('is left alone where it is an answer: there is nothing to stop', () => {
    expect(judgeReply(aiMessage('the answer'), { ...FACTS, exceeded })).toMatchObject({
      stopReason: null,
      message: { content: 'the answer' },
    });
  });

  test('in blocks is ended in a block of text', () => {
    const message: AiMessage = { ...calling('', 'bash'), content: [{ type: 'text', text: 'so far' }] };
    expect(judgeReply(message, { ...FACTS, exceeded }).message.content).toEqual([
      { type: 'text', text: 'so far' },
      { type: 'text', text: `\n\n${exceeded}` },
    ]);
  });
});

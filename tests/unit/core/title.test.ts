import type { Message } from '../../../contracts';
import { localTitle, titleFromReply, titleRequest } from '../../../core/title';

const message = (type: 'human' | 'ai', content: string): Message => {
  const parts = { id: content.slice(0, 5), name: null, content, additional_kwargs: {}, response_metadata: {} };
  return type === 'human'
    ? { ...parts, type }
    : { ...parts, type, tool_calls: [], invalid_tool_calls: [], usage_metadata: null };
};
const exchange = (user: string, answer: string): Message[] => [message('human', user), message('ai', answer)];

describe('the title without a model', () => {
  it.each([
    ['x'.repeat(80), 60, `${'x'.repeat(50)}...`],
    ['x'.repeat(80), 20, `${'x'.repeat(17)}...`],
    [`${'x'.repeat(49)} ${'y'.repeat(30)}`, 60, `${'x'.repeat(49)}...`],
    ['x'.repeat(50), 60, 'x'.repeat(50)],
    ['x'.repeat(20), 20, 'x'.repeat(20)],
    ['   ', 60, 'New Conversation'],
  ])('of %j with at most %d characters is %j', (text, maxChars, title) => {
    expect(localTitle([message('human', text)], maxChars)).toBe(title);
  });
});

describe('what a model is asked for a title', () => {
  it('shows the first 500 characters of both sides, without thoughts', () => {
    const request = titleRequest(exchange('u'.repeat(600), `<think>secret</think>${'a'.repeat(600)}`), {
      template: null,
      maxWords: 6,
    });
    expect(request).toContain(`User: ${'u'.repeat(500)}\n`);
    expect(request?.endsWith(`Assistant: ${'a'.repeat(500)}`)).toBe(true);
    expect(request).toContain('at most 6 words');
    expect(request).not.toContain('secret');
  });

  it('follows the configured template, and fills nothing that users wrote', () => {
    const template = '{max_words}|{user_msg}|{assistant_msg}|{other}';
    expect(titleRequest(exchange('{assistant_msg} $& {max_words}', 'yes'), { template, maxWords: 3 })).toBe(
      '3|{assistant_msg} $& {max_words}|yes|{other}',
    );
  });

  it('is nothing while there is no exchange', () => {
    expect(titleRequest([message('human', 'hi')], { template: null, maxWords: 6 })).toBeNull();
    expect(titleRequest([], { template: null, maxWords: 6 })).toBeNull();
  });
});

describe('the title in a model’s answer', () => {
  it.each([
    ['"A fine title"', 'A fine title'],
    ['<think>hm, "x"</think>\n A fine\n title ', 'A fine title'],
    ['“Zitat”', 'Zitat'],
    ['y'.repeat(80), 'y'.repeat(60)],
    ['<think>never closed', null],
    ['""', null],
    // What a database cannot store.
    ['A\u0000B \ud83d', 'A\ufffdB \ufffd'],
  ])('%j is %j', (text, title) => {
    expect(titleFromReply(text, 60)).toBe(title);
  });
});

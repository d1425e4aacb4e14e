import { acceptTitle, localTitle, titlePrompt } from '../../../core/title';
import { aiMessage, humanMessage } from '../../support/run-fixtures';

const local = (text: string, maxChars = 60) => localTitle([humanMessage(text)], maxChars);

describe('the title that a thread gets without a model', () => {
  test('is the user’s text, cut at fifty characters where it is longer', () => {
    expect(local('x'.repeat(50))).toBe('x'.repeat(50));
    expect(local('x'.repeat(80))).toBe(`${'x'.repeat(50)}...`);
    expect(local('x'.repeat(80), 200)).toBe(`${'x'.repeat(50)}...`);
  });

  test('is never longer than the configured limit, mark of the cut included', () => {
    expect(local('x'.repeat(80), 20)).toBe(`${'x'.repeat(17)}...`);
    expect(local('x'.repeat(20), 20)).toBe('x'.repeat(20));
    expect(local('x'.repeat(51), 50)).toBe(`${'x'.repeat(47)}...`);
  });

  test('has no space before the mark of the cut', () => {
    expect(local(`${'x'.repeat(49)} ${'y'.repeat(30)}`)).toBe(`${'x'.repeat(49)}...`);
  });

  test('never ends in half a character', () => {
    expect(local('😀'.repeat(60))).toBe(`${'😀'.repeat(50)}...`);
  });

  test('is the usual name where the user wrote nothing, and takes no message that no user sees', () => {
    expect(local('  \n ')).toBe('New Conversation');
    const hidden = { ...humanMessage('internal'), additional_kwargs: { hide_from_ui: true } };
    expect(localTitle([hidden, humanMessage('real')], 60)).toBe('real');
  });
});

describe('what the model of titles is asked', () => {
  const ask = (template: string | null, question = 'the question', answer = 'the answer') =>
    titlePrompt({ messages: [humanMessage(question)], answer: aiMessage(answer), template, maxWords: 6 });

  test('names the number of words and both sides', () => {
    expect(ask(null)).toMatch(/6 words[\s\S]*the question[\s\S]*the answer/);
  });

  test('is the operator’s text where there is one, with its own braces left alone', () => {
    expect(ask('{max_words}|{user_msg}|{assistant_msg}|{"json": {x}}')).toBe('6|the question|the answer|{"json": {x}}');
  });

  test('takes nothing that a user writes for a place of the template', () => {
    expect(ask('{user_msg}', 'say {assistant_msg} and $& and {max_words}')).toBe(
      'say {assistant_msg} and $& and {max_words}',
    );
  });

  test('shows the first five hundred characters of each side, without thoughts', () => {
    const text = ask(
      '{user_msg}|{assistant_msg}',
      'q'.repeat(900),
      `<think>${'t'.repeat(900)}</think>${'a'.repeat(900)}`,
    );
    expect(text).toBe(`${'q'.repeat(500)}|${'a'.repeat(500)}`);
  });
});

describe('the answer of the model of titles', () => {
  test.each([
    ['"A fine title"', 'A fine title'],
    ['<think>hm, what\nabout</think>\n“Report on sales”', 'Report on sales'],
    ['<think>never ended', null],
    ['  two\n lines ', 'two lines'],
    ['""', null],
    ['', null],
    ['It’s "quoted" inside', 'It’s "quoted" inside'],
  ])('%j becomes %j', (answer, title) => expect(acceptTitle(answer, 60)).toBe(title));

  test('is cut at the configured length, and never in half a character', () => {
    expect(acceptTitle('😀'.repeat(30), 20)).toBe('😀'.repeat(20));
  });
});

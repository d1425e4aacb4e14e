import { systemPrompt } from '../../../core/prompt/system-prompt';

const prompt = (prepend: string | null, append: string | null) =>
  systemPrompt({ toolNames: ['ls'], skillsRoot: '/mnt/skills', mounts: [], overlay: { prepend, append } });
const plain = prompt(null, null);

describe('the operator’s text around the system prompt', () => {
  test('is joined to it with two newlines', () => {
    expect(prompt('Before.', 'After.')).toBe(`Before.\n\n${plain}\n\nAfter.`);
    expect(prompt('Before.', null)).toBe(`Before.\n\n${plain}`);
  });

  test('is taken literally, braces and all', () => {
    expect(prompt(null, 'Use {conversation} and {"a": 1} and $& and {{x}}.')).toBe(
      `${plain}\n\nUse {conversation} and {"a": 1} and $& and {{x}}.`,
    );
  });

  test('leaves the prompt as it is, byte for byte, where it is empty', () => {
    expect(prompt('', '')).toBe(plain);
    expect(plain.startsWith('<role>')).toBe(true);
    expect(plain.endsWith('</response_style>')).toBe(true);
  });
});

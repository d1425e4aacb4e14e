import { ThoughtSplitter } from '../../../../models/openai/inline-thoughts';

function split(parts: readonly string[]): { content: string; reasoning: string } {
  const splitter = new ThoughtSplitter();
  const found = [...parts.map((part) => splitter.take(part)), splitter.end()];
  return {
    content: found.map(({ content }) => content).join(''),
    reasoning: found.map(({ reasoning }) => reasoning).join(''),
  };
}

const TEXTS: Array<[text: string, content: string, reasoning: string]> = [
  ['<think>hm</think>four', 'four', 'hm'],
  ['\n<think>\n let me see \n it is < 5 \n</think>\n\nfour\n', 'four\n', 'let me see \n it is < 5'],
  ['<think>a</think>\n<think>b</think>four', 'four', 'a\n\nb'],
  ['<think></think>four', 'four', ''],
  ['<think> \n </think> four', 'four', ''],
  ['four', 'four', ''],
  [' four', ' four', ''],
  ['it writes <think>so</think> then', 'it writes <think>so</think> then', ''],
  ['<think>hm</think>it writes <think>so</think>', 'it writes <think>so</think>', 'hm'],
  ['<thinking>four', '<thinking>four', ''],
  ['<thi', '<thi', ''],
  ['<think>cut </thi', '', 'cut </thi'],
  ['<think>hm</think>', '', 'hm'],
  ['', '', ''],
];

describe('thoughts in front of an answer', () => {
  it.each(TEXTS)('are told from it, wherever the parts of %j begin and end', (text, content, reasoning) => {
    expect(split([text])).toEqual({ content, reasoning });
    expect(split([...text])).toEqual({ content, reasoning });
    for (let place = 1; place < text.length; place += 1) {
      expect(split([text.slice(0, place), text.slice(place)])).toEqual({ content, reasoning });
    }
  });

  it('come as they are thought, and the answer as it is said', () => {
    const splitter = new ThoughtSplitter();
    const parts = ['<think>one ', 'two ', 'three</think>', 'four ', 'five'].map((part) => splitter.take(part));
    expect(parts).toEqual([
      { content: '', reasoning: 'one' },
      { content: '', reasoning: ' two' },
      { content: '', reasoning: ' three' },
      { content: 'four ', reasoning: '' },
      { content: 'five', reasoning: '' },
    ]);
  });
});

import { unescapeMarkup } from '../../../../models/mindie/entities';
import { createNewlineDecoder, decodeNewlines } from '../../../../models/mindie/escaped-newlines';
import { parseToolCalls } from '../../../../models/mindie/parse-tool-calls';

const block = (name: string, parameters: string) =>
  `<tool_call> <function=${name}> ${parameters} </function> </tool_call>`;

describe('tool calls in a text', () => {
  it('are taken out of it, in their order', () => {
    const text = `Here.\n${block('a', '<parameter=x>1</parameter>')} and ${block('b', '<parameter=y>two</parameter>')} end`;
    expect(parseToolCalls(text)).toEqual({
      text: 'Here.\n and  end',
      calls: [
        { name: 'a', args: { x: 1 } },
        { name: 'b', args: { y: 'two' } },
      ],
    });
  });

  it('may have no parameters, or several of one name, of which the last counts', () => {
    expect(parseToolCalls(block('a', '')).calls).toEqual([{ name: 'a', args: {} }]);
    expect(parseToolCalls(block('a', '<parameter=x>1</parameter><parameter=x>2</parameter>')).calls[0]?.args).toEqual({
      x: 2,
    });
  });

  it('within a call are not mistaken for its parameters', () => {
    const inner = block('inner', '<parameter=x>2</parameter>');
    const text = block('outer', `<parameter=q>1</parameter>${inner}<parameter=r>3</parameter>`);
    expect(parseToolCalls(text)).toEqual({ text: '', calls: [{ name: 'outer', args: { q: 1, r: 3 } }] });
  });

  it('have their entities read, in names and in values', () => {
    const text = block('fn&lt;&amp;&gt;', '<parameter=k&lt;&amp;&gt;>v&lt;&amp;&gt;</parameter>');
    expect(parseToolCalls(text).calls).toEqual([{ name: 'fn<&>', args: { 'k<&>': 'v<&>' } }]);
    const json = block('f', '<parameter=d>{&quot;html&quot;: "&lt;b&gt;"}</parameter>');
    expect(parseToolCalls(json).calls[0]?.args).toEqual({ d: { html: '<b>' } });
  });

  it('keep values of many lines', () => {
    const text = block('write', '<parameter=content>\nline 1\n  line 2\n</parameter>');
    expect(parseToolCalls(text).calls[0]?.args).toEqual({ content: 'line 1\n  line 2' });
  });

  it.each([
    'Just a reply.',
    '<tool_call>not a function</tool_call>',
    '<tool_call><function= ></function></tool_call>',
    '<tool_call><function=f><parameter=x>cut off',
    '</tool_call> <function=f></function>',
  ])('are none in %s, which stays as it is', (text) => {
    expect(parseToolCalls(text)).toEqual({ text, calls: [] });
  });

  it('beside a block that is none are taken out; the block stays', () => {
    expect(parseToolCalls(`<tool_call>what</tool_call>${block('f', '')}`)).toEqual({
      text: '<tool_call>what</tool_call>',
      calls: [{ name: 'f', args: {} }],
    });
  });

  it('with a parameter of a strange name have just that parameter', () => {
    const [call] = parseToolCalls(block('f', '<parameter=__proto__>{"x": 1}</parameter>')).calls;
    expect(JSON.stringify(call?.args)).toBe('{"__proto__":{"x":1}}');
  });
});

it.each([
  ['&lt;&gt;&amp;&quot;&apos;', '<>&"\''],
  ['&#65;&#x42;&#x1F600;', 'AB😀'],
  ['&unknown; &#0; &#xD800; &#9999999; & &amp', '&unknown; &#0; &#xD800; &#9999999; & &amp'],
  ['&amp;lt;', '&lt;'],
])('the entities in %s are read once', (text, read) => {
  expect(unescapeMarkup(text)).toBe(read);
});

describe('newlines that were escaped once too often', () => {
  const text = 'a\\nb ```js\nlog("\\n")\n``` c\\n\\\\n ````x\\n```` `\\n` \\t\\';

  it('are newlines again, but in fenced code', () => {
    expect(decodeNewlines('text\\n```json\n{"k":"a\\\\nb"}\n```\\nend')).toBe(
      'text\n```json\n{"k":"a\\\\nb"}\n```\nend',
    );
    expect(decodeNewlines('open ```\\n')).toBe('open ```\\n');
    expect(decodeNewlines('')).toBe('');
  });

  it.each([1, 2, 3, 4, 5, 7])('are found wherever a stream is cut: parts of %i', (length) => {
    const decoder = createNewlineDecoder();
    let read = '';
    for (let from = 0; from < text.length; from += length) read += decoder.push(text.slice(from, from + length));
    expect(read + decoder.end()).toBe(decodeNewlines(text));
  });

  it('are given out as soon as they are certain', () => {
    const decoder = createNewlineDecoder();
    expect(decoder.push('a\\')).toBe('a');
    expect(decoder.push('nb``')).toBe('\nb');
    expect(decoder.push('`\\n')).toBe('```\\n');
    expect(decoder.end()).toBe('');
  });
});

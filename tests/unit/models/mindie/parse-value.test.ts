import { parseValue } from '../../../../models/mindie/parse-value';
import { readPythonLiteral } from '../../../../models/mindie/python-literal';

describe('a parameter of a tool call is', () => {
  it.each([
    ['true', true],
    ['false', false],
    ['null', null],
    ['42', 42],
    ['-3', -3],
    ['3.14', 3.14],
    ['1e-3', 0.001],
    ['0', 0],
    [' 7 ', 7],
    ['["a", "b"]', ['a', 'b']],
    ['{"k": 1}', { k: 1 }],
    ['{}', {}],
    ['[0.0,1e-308,5e-324]', [0, 1e-308, 5e-324]],
  ])('the value that its JSON means: %s', (text, value) => {
    expect(parseValue(text)).toEqual(value);
  });

  it.each([
    '12x',
    '007',
    '3.',
    '+3',
    '.5',
    'True',
    'hello',
    '',
    '9'.repeat(5000),
    '1e400',
    '1e-400',
    '-1e-400',
    '12345678901234567890',
  ])('the text that it was, where it is no number that can be kept: %.30s', (text) => {
    expect(parseValue(text)).toBe(text);
  });

  it.each([
    '[1e-400]',
    '{"n":1e-400}',
    '[{"n":-1e-400}]',
    '{"n":[0.5,1e-400]}',
    '{"n":[1e400]}',
    '{"id":12345678901234567890}',
    '[1e400,]',
    '{1, 2}',
    "[b'bytes']",
    '[2j]',
    String.raw`{"n":1e400,"text":"first\nsecond"}`,
    String.raw`{'n':1e400,'text':'first\nsecond'}`,
  ])('the whole text that it was, where a part of it cannot be kept: %s', (text) => {
    expect(parseValue(text)).toBe(text);
  });

  it('not misled by numbers within its texts', () => {
    expect(parseValue('{"say": "1e400 \\" 1e400"}')).toEqual({ say: '1e400 " 1e400' });
  });
});

describe('escapes of newlines', () => {
  it('in JSON mean what JSON says', () => {
    expect(parseValue(String.raw`{"c":"a\nb"}`)).toEqual({ c: 'a\nb' });
    expect(parseValue(String.raw`{"c":"a\\nb"}`)).toEqual({ c: String.raw`a\nb` });
    expect(parseValue(String.raw`["line1\nline2", "literal\\n"]`)).toEqual(['line1\nline2', String.raw`literal\n`]);
  });

  it('in notation of Python mean what Python says', () => {
    expect(parseValue(String.raw`{'text': 'first\nsecond', 'literal': r'first\nsecond'}`)).toEqual({
      text: 'first\nsecond',
      literal: String.raw`first\nsecond`,
    });
  });

  it('in a text are newlines, and what they leave at its ends is no part of it', () => {
    expect(parseValue(String.raw`echo first\necho second`)).toBe('echo first\necho second');
    expect(parseValue(String.raw`\n  body \n`)).toBe('body');
    expect(parseValue(String.raw`{broken json\nnext line`)).toBe('{broken json\nnext line');
  });

  it('in fenced code stay', () => {
    expect(parseValue("before\\n```python\nprint('a\\nb')\n```\\nafter")).toBe(
      "before\n```python\nprint('a\\nb')\n```\nafter",
    );
  });
});

describe('notation of Python', () => {
  it.each([
    ["{'a': True, 'b': [None, 1.5, -2]}", { a: true, b: [null, 1.5, -2] }],
    ["['x', \"y\", '''z\nz''', u'w',]", ['x', 'y', 'z\nz', 'w']],
    ["[('a', 1), ('only',), ('value')]", [['a', 1], ['only'], 'value']],
    ["{1: 'one'}", { 1: 'one' }],
    ["['it' 's', 'it\\'s']", ['its', "it's"]],
    ['["\\x41\\u00e9\\U0001F600\\101\\q"]', ['Aé😀A\\q']],
    ['[1_000, .5, 3., +4]', [1000, 0.5, 3, 4]],
    ['[ ]', []],
    ["{'__proto__': 1}", JSON.parse('{"__proto__": 1}')],
  ])('%s is read', (text, value) => {
    expect(readPythonLiteral(text)).toEqual({ kind: 'value', value });
  });

  it.each([
    "[__import__('os').system('true')]",
    "['open",
    '[1, 2',
    '[1 2]',
    "{'a': 1 'b': 2}",
    "{'a'}}",
    '[foo]',
    "[f'{x}']",
    "['\\xZZ']",
    "['\\N{DASH}']",
    '[007]',
    '[1] + [2]',
    "['a\nb']",
  ])('%s is none, and nothing of it is carried out', (text) => {
    expect(readPythonLiteral(text).kind).not.toBe('value');
  });

  it('of any depth ends in an answer', () => {
    expect(readPythonLiteral('['.repeat(100_000)).kind).toBe('unsafe');
    expect(parseValue(`[${'('.repeat(5_000)}`)).toMatch(/^\[\(\(/);
  });
});

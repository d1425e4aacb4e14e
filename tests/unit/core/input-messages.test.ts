import type { JsonValue } from '../../../contracts';
import { coerceInputMessages } from '../../../core/input-messages';

let made = 0;
const newId = (): string => `id-${(made += 1)}`;
const coerce = (value: JsonValue | undefined, options = {}) => coerceInputMessages(value, { newId, ...options });

beforeEach(() => {
  made = 0;
});

describe('messages of a request', () => {
  it('may be one text, or a list of texts, pairs and messages', () => {
    const human = (content: string, id: string) => ({
      type: 'human',
      id,
      content,
      name: null,
      additional_kwargs: {},
      response_metadata: {},
    });
    expect(coerce('hi')).toEqual([human('hi', 'id-1')]);
    expect(
      coerce(['a', ['user', 'b'], { role: 'user', content: 'c' }, { type: 'human', content: 'd', id: 'mine' }]),
    ).toEqual([human('a', 'id-2'), human('b', 'id-3'), human('c', 'id-4'), human('d', 'mine')]);
    expect(coerce({ role: 'user', content: 'alone' })).toHaveLength(1);
    expect(coerce([])).toEqual([]);
    expect(coerce(null)).toEqual([]);
    expect(coerce(undefined)).toEqual([]);
  });

  it.each([
    ['user', 'human'],
    ['human', 'human'],
    ['assistant', 'ai'],
    ['ai', 'ai'],
    ['system', 'system'],
    ['developer', 'system'],
  ])('of the role %s are of type %s', (role, type) => {
    expect(coerce([{ role, content: 'x' }])).toMatchObject([{ type }]);
  });

  it('may have content in blocks, where a text stands for a block of text', () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    expect(coerce([{ role: 'user', content: ['look', image] }])[0]?.content).toEqual([
      { type: 'text', text: 'look' },
      image,
    ]);
  });

  it('may be replies with calls in either form, and their results', () => {
    const [reply, result] = coerce([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', name: 'ls', args: { path: '/' } },
          { id: 'b', type: 'function', function: { name: 'cat', arguments: '{"path":"/x"}' } },
        ],
      },
      { role: 'tool', content: 'done', tool_call_id: 'a', status: 'error', artifact: { n: 1 } },
    ]);
    expect(reply).toMatchObject({
      content: '',
      tool_calls: [
        { type: 'tool_call', id: 'a', name: 'ls', args: { path: '/' } },
        { type: 'tool_call', id: 'b', name: 'cat', args: { path: '/x' } },
      ],
      invalid_tool_calls: [],
    });
    expect(result).toMatchObject({ type: 'tool', tool_call_id: 'a', status: 'error', artifact: { n: 1 } });
  });

  it('lose what only the server says of messages, and keep what clients may say', () => {
    const additional_kwargs = {
      original_user_content: 'x',
      dynamic_context_reminder: true,
      run_id: 'r',
      deerflow_error_fallback: true,
      subagent_status: 'completed',
      hide_from_ui: true,
      files: [],
    };
    const message = { role: 'user', content: 'x', additional_kwargs };
    expect(coerce([message])[0]?.additional_kwargs).toEqual({ hide_from_ui: true, files: [] });
    expect(coerce([message], { keepServerOwned: true })[0]?.additional_kwargs).toEqual(additional_kwargs);
  });

  it('stay as they are when they are taken again', () => {
    const usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const once = coerce([
      'a',
      { role: 'ai', content: 'b', usage_metadata },
      { role: 'tool', content: 'c', tool_call_id: 't' },
    ]);
    expect(coerce(once as unknown as JsonValue)).toEqual(once);
  });

  it.each<[JsonValue, string]>([
    [
      [{ role: 'user' }],
      "Invalid message at input.messages[0]: Message dict must contain 'role' and 'content' keys, got {'role': 'user'}",
    ],
    [
      ['a', { content: 'x' }],
      "Invalid message at input.messages[1]: Message dict must contain 'role' and 'content' keys, got {'content': 'x'}",
    ],
    [
      [{ role: 'alien', content: 'x' }],
      "Invalid message at input.messages[0]: Unexpected message type: 'alien'. Use one of 'human', 'user', 'ai', " +
        "'assistant', 'function', 'tool', 'system', or 'developer'.",
    ],
    [
      [{ role: 'constructor', content: 'x' }],
      "Invalid message at input.messages[0]: Unexpected message type: 'constructor'",
    ],
    [
      [{ role: 'tool', content: 'x' }],
      "Invalid message at input.messages[0]: a tool message must contain a 'tool_call_id'",
    ],
    [[{ role: 'user', content: 5 }], 'Invalid message at input.messages[0]: content must be'],
    [[{ role: 'user', content: [5] }], 'Invalid message at input.messages[0]: content must be'],
    [[7], 'Invalid message at input.messages[0]: Unsupported message form: 7'],
    [[null], 'Invalid message at input.messages[0]: Unsupported message form: None'],
    [[['user', 'a', 'b']], "Invalid message at input.messages[0]: Unsupported message form: ['user', 'a', 'b']"],
    [[{ role: 'user', content: 'x', id: 'y'.repeat(256) }], 'Invalid message at input.messages[0]: id is longer'],
    [7, 'Invalid input.messages: expected a text or a list of messages'],
  ])('that are none are named: %j', (value, message) => {
    expect(() => coerce(value)).toThrow(message);
    expect(() => coerce(value)).toThrow(expect.objectContaining({ code: 'invalid_message' }) as Error);
  });
});

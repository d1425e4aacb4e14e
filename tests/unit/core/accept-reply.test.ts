import type { UncheckedReply } from '../../../core/messages/accept-reply';
import { acceptReply } from '../../../core/messages/accept-reply';

function reply(toolCalls: UncheckedReply['toolCalls'], content = ''): UncheckedReply {
  return { content, toolCalls, usage: null, finishReason: 'tool_calls', additionalKwargs: {}, responseMetadata: {} };
}

describe('a model reply is made safe before it is stored', () => {
  test('a call without an id gets one that is stable for its message', () => {
    const { tool_calls } = acceptReply(reply([{ id: null, name: 'ls', args: '{}' }]), 'm1');
    expect(tool_calls).toEqual([
      { type: 'tool_call', id: 'deerflow_synthetic_tool_call_m1_missing_0', name: 'ls', args: {} },
    ]);
  });

  test('a call whose id is too long to be stored gets one of ours, and one that just fits keeps its own', () => {
    const { tool_calls } = acceptReply(
      reply([
        { id: 'x'.repeat(513), name: 'ls', args: '{}' },
        { id: 'x'.repeat(512), name: 'ls', args: '{}' },
      ]),
      'm1',
    );
    expect(tool_calls.map(({ id }) => id)).toEqual(['deerflow_synthetic_tool_call_m1_long_0', 'x'.repeat(512)]);
  });

  test('two calls with one id both survive under different ids', () => {
    const { tool_calls } = acceptReply(
      reply([
        { id: 'c1', name: 'ls', args: '{"path":"/a"}' },
        { id: 'c1', name: 'ls', args: '{"path":"/b"}' },
      ]),
      'm1',
    );
    expect(new Set(tool_calls.map(({ id }) => id)).size).toBe(2);
    expect(tool_calls.map(({ args }) => args['path'])).toEqual(['/a', '/b']);
  });

  test.each([
    ['no JSON', '{"path": "/a"', 'not valid JSON'],
    ['a list', '[1]', 'not a JSON object'],
    ['ten thousand levels', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'nested deeper'],
  ])('arguments that are %s make the call invalid but keep its place', (_name, args, why) => {
    const message = acceptReply(reply([{ id: 'c1', name: 'ls', args }]), 'm1');
    expect(message.tool_calls).toEqual([{ type: 'tool_call', id: 'c1', name: 'ls', args: {} }]);
    expect(message.invalid_tool_calls[0]?.error).toContain(why);
    expect(message.invalid_tool_calls[0]?.args?.length).toBeLessThanOrEqual(500);
  });

  test('a call without a name becomes unknown_tool, and no arguments mean an empty object', () => {
    const { tool_calls } = acceptReply(reply([{ id: 'c1', name: ' ', args: '' }]), 'm1');
    expect(tool_calls[0]).toMatchObject({ name: 'unknown_tool', args: {} });
  });

  test('NUL bytes and lone surrogates never reach the store', () => {
    const message = acceptReply(
      reply(
        [{ id: 'c1', name: 'ls', args: JSON.stringify({ path: 'a\u0000b', '\ud800': '\udfff' }) }],
        'x\u0000\ud83d',
      ),
      'm1',
    );
    expect(JSON.stringify(message)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
    expect(message.content).toBe('x\uFFFD\uFFFD');
  });
});

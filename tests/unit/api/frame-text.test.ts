import { eventId, frameText, parseEventId } from '../../../api/sse/frame-text';
import { messageChunk } from '../../../api/sse/message-chunk';

describe('a frame', () => {
  it('is a name, one line of data and an id, in this order', () => {
    expect(frameText('values', '{"a": 1}', '17-3')).toBe('event: values\ndata: {"a": 1}\nid: 17-3\n\n');
    expect(frameText('end', 'null')).toBe('event: end\ndata: null\n\n');
  });

  it('has an id that can be read back, and nothing else can', () => {
    const id = { at: 1_796_054_982_009, number: 12 };
    expect(parseEventId(eventId(id))).toEqual(id);
    expect(parseEventId(' 1-0 ')).toEqual({ at: 1, number: 0 });
    for (const text of [undefined, '', '-1', '5', 'a-1', '1-b', '1-2-3', '1e3-1', `${'9'.repeat(16)}-1`]) {
      expect(parseEventId(text)).toBeNull();
    }
  });
});

describe('a part of a reply', () => {
  it('names the tool that it begins to call', () => {
    const chunk = messageChunk({
      id: 'm',
      content: '',
      tool_call_chunks: [{ index: 0, id: 'call_1', name: 'ls', args: '{"path":"/mnt"}' }],
      chunk_position: 'last',
    });
    expect(chunk).toMatchObject({
      tool_calls: [{ name: 'ls', args: { path: '/mnt' }, id: 'call_1', type: 'tool_call' }],
      tool_call_chunks: [{ name: 'ls', args: '{"path":"/mnt"}', id: 'call_1', index: 0, type: 'tool_call_chunk' }],
      chunk_position: 'last',
    });
  });

  it('that only brings more arguments calls nothing by itself', () => {
    const chunk = messageChunk({
      id: 'm',
      content: '',
      tool_call_chunks: [{ index: 0, id: null, name: null, args: '"/m' }],
    });
    expect(chunk).toMatchObject({ tool_calls: [], tool_call_chunks: [{ args: '"/m' }] });
  });

  it('with the beginning of arguments names the call without them', () => {
    const chunk = messageChunk({ id: 'm', tool_call_chunks: [{ index: 0, id: 'c', name: 'ls', args: '{"pa' }] });
    expect(chunk).toMatchObject({ content: '', tool_calls: [{ name: 'ls', args: {} }] });
  });
});

import { createFrameSplitter, parseId, stampedTokens } from '../../../bench/readers/frames';
import type { ReaderReport } from '../../../bench/readers/protocol';
import { readerFault } from '../../../bench/readers/soundness';

describe('the frames of a stream', () => {
  const text = 'event: metadata\ndata: {"a":1}\nid: 1700000000000-0\n\n: heartbeat\n\nevent: end\ndata: null\n\n';

  it('are given once they are whole, wherever the network cuts, and without comments', () => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const splitter = createFrameSplitter();
      expect([...splitter.push(text.slice(0, cut)), ...splitter.push(text.slice(cut))]).toEqual([
        { event: 'metadata', id: '1700000000000-0', data: '{"a":1}' },
        { event: 'end', id: null, data: 'null' },
      ]);
    }
  });

  it('take no id from inside the data', () => {
    const [frame] = createFrameSplitter().push('event: custom\ndata: {"text":"id: 5-5"}\n\n');
    expect(frame).toEqual({ event: 'custom', id: null, data: '{"text":"id: 5-5"}' });
  });

  it('say in their id when they were committed and which they are', () => {
    expect(parseId('1700000000123-42')).toEqual({ at: 1_700_000_000_123, number: 42 });
  });

  it('hold tokens that say when they were sent, several where they were stored together', () => {
    expect(stampedTokens('[{"content":" w7@1700000000001 w8@1700000000022"}]')).toEqual([
      { number: 7, sentAt: 1_700_000_000_001 },
      { number: 8, sentAt: 1_700_000_000_022 },
    ]);
    expect(stampedTokens('{"content":"done"}')).toEqual([]);
  });
});

describe('a reader', () => {
  const expected = { numbers: [0, 1, 3], tokens: 2 };
  const sound: ReaderReport = {
    unsteady: true,
    reconnects: 3,
    broken: 0,
    numbers: [0, 1, 3],
    eventLags: [1, 1, 1],
    tokens: [1, 2],
    tokenLags: [2, 2],
    ended: true,
  };

  it('that got everything once and in order has no fault, however often it came back', () => {
    expect(readerFault(sound, expected)).toBeNull();
  });

  it.each([
    ['lost an event', { numbers: [0, 3] }, 'event 1 was lost: 3 came after 0'],
    ['lost the last event', { numbers: [0, 1] }, 'event 3 was lost: nothing came after 1'],
    ['got nothing', { numbers: [] }, 'event 0 was lost: nothing came after the beginning'],
    ['got an event twice', { numbers: [0, 1, 1, 3] }, 'event 1 came again after 1'],
    ['got the last event twice', { numbers: [0, 1, 3, 3] }, 'event 3 came again after 3'],
    ['got an event of an earlier place', { numbers: [0, 1, 0, 3] }, 'event 0 came again after 1'],
    ['lost a token', { tokens: [2] }, 'token 1 was lost: 2 came after the beginning'],
    ['did not see the end', { ended: false }, 'the stream did not end'],
  ])('that %s is found', (_, change, fault) => {
    expect(readerFault({ ...sound, ...change }, expected)).toBe(fault);
  });

  it('that got more than there was is found', () => {
    expect(readerFault({ ...sound, numbers: [0, 1, 3, 4] }, expected)).toBe('event 4 came after the last');
  });
});

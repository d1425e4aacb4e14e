import { createSseScanner } from '../../../bench/load/sse-scanner';

describe('the scanner of a stream of events', () => {
  it('gives each event once it is complete, wherever the network cuts', () => {
    const text = 'event: metadata\ndata: {"run_id":"r1"}\nid: 1-0\n\nevent: end\ndata: null\n\n';
    for (let cut = 1; cut < text.length; cut += 1) {
      const scanner = createSseScanner();
      const events = [...scanner.push(text.slice(0, cut)), ...scanner.push(text.slice(cut))];
      expect(events).toEqual([
        { event: 'metadata', data: '{"run_id":"r1"}' },
        { event: 'end', data: 'null' },
      ]);
    }
  });

  it('passes over comments, which only keep a connection open', () => {
    expect(createSseScanner().push(': heartbeat\n\nevent: values\ndata: {}\n\n')).toEqual([
      { event: 'values', data: '{}' },
    ]);
  });

  it('joins the lines of data that came in several', () => {
    expect(createSseScanner().push('event: values\ndata: {\ndata: }\n\n')).toEqual([{ event: 'values', data: '{\n}' }]);
  });
});

/** One server-sent event as it came; `data` is not parsed, because a load test reads few of the states it gets. */
export interface ScannedEvent {
  event: string;
  data: string;
}

export interface SseScanner {
  /** Gives the events that this piece of text completes. */
  push(text: string): ScannedEvent[];
}

/** Cuts a stream into events, at the least cost: the client shares the machine with what it measures. */
export function createSseScanner(): SseScanner {
  let rest = '';
  return {
    push(text) {
      rest += text;
      const events: ScannedEvent[] = [];
      let start = 0;
      for (let end = rest.indexOf('\n\n', start); end >= 0; end = rest.indexOf('\n\n', start)) {
        const event = scanBlock(rest.slice(start, end));
        if (event !== null) events.push(event);
        start = end + 2;
      }
      rest = rest.slice(start);
      return events;
    },
  };
}

/** Null for a comment, which only keeps the connection open. */
function scanBlock(block: string): ScannedEvent | null {
  let event = '';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice('event:'.length).trim();
    else if (line.startsWith('data:')) data.push(line.slice('data:'.length).trimStart());
  }
  return event === '' && data.length === 0 ? null : { event, data: data.join('\n') };
}

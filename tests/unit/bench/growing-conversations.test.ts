import { createGrowingConversations } from '../../../bench/growing-conversations';

const TOOLS = [{ function: { name: 'ls' } }];

interface Message {
  role: string;
  content: string;
}

const message = (index: number, content = `text ${index} with "quotes", ü and ]}`): Message => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content,
});
const messages = (count: number): Message[] => Array.from({ length: count }, (_, index) => message(index));
const body = (parts: unknown): Buffer => Buffer.from(JSON.stringify(parts));

describe('reading a conversation that grows', () => {
  it('gives what parsing the whole body gives, however the conversation goes on', () => {
    const parse = createGrowingConversations();
    for (const count of [1, 2, 2, 5, 4, 9]) {
      const request = { model: 'm', tools: TOOLS, messages: messages(count), stream: true, seed: count };
      expect(parse(body(request))).toEqual(request);
    }
  });

  it('keeps what it has read, so that a long conversation is not read again', () => {
    const parse = createGrowingConversations();
    const first = parse(body({ model: 'm', messages: messages(3), stream: true }));
    const second = parse(body({ model: 'm', messages: messages(5), stream: true }));
    expect(second?.messages.slice(0, 3).map((known, index) => known === first?.messages[index])).toEqual([
      true,
      true,
      true,
    ]);
    expect(second?.messages).toHaveLength(5);
  });

  it('tells conversations apart that differ in their first message or their model', () => {
    const parse = createGrowingConversations();
    const requests = [
      { model: 'm', messages: [message(0, 'one'), message(1)] },
      { model: 'm', messages: [message(0, 'two'), message(1), message(2)] },
      { model: 'n', messages: [message(0, 'one'), message(1), message(2)] },
      { model: 'm', messages: [message(0, 'one'), message(1), message(2)] },
    ];
    for (const request of requests) expect(parse(body(request))).toEqual(request);
  });

  it('reads a body with blanks or with another order of its parts', () => {
    const parse = createGrowingConversations();
    for (const count of [1, 3, 5]) {
      const request = { messages: messages(count), model: 'm', tools: TOOLS };
      expect(parse(Buffer.from(JSON.stringify(request, null, 2)))).toEqual(request);
      expect(parse(body(request))).toEqual(request);
    }
  });

  it('refuses what is no request, also when it begins like one', () => {
    const parse = createGrowingConversations();
    const whole = body({ model: 'm', messages: messages(2), stream: true });
    expect(parse(whole)).not.toBeNull();
    expect(parse(whole.subarray(0, whole.length - 3))).toBeNull();
    expect(parse(Buffer.from('[]'))).toBeNull();
  });
});

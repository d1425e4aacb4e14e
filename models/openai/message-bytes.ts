/**
 * The `messages` of a request body as they go over the wire. A conversation is sent again with every turn, so each of
 * its messages is converted and encoded once, and the client library encodes everything but them.
 */
import type { Message } from '../../contracts';

/** How a wire writes a conversation. */
export interface WireForm {
  /** Our own instructions and those of the conversation. */
  system(system: string, messages: readonly Message[]): readonly object[];
  /** `lasting` says that it will be the same for as long as the message lives, whatever follows it. */
  message(
    message: Message,
    messages: readonly Message[],
    position: number,
  ): { wire: readonly object[]; lasting: boolean };
}

/** A JSON array in pieces. Messages are never changed in place, so what was made of one is kept. */
export type EncodeMessages = (system: string, messages: readonly Message[]) => Buffer[];

const [COMMA, BEGIN, END] = [Buffer.from(','), Buffer.from('['), Buffer.from(']')];

export function createEncodeMessages(form: WireForm): EncodeMessages {
  const known = new WeakMap<Message, Buffer>();

  return (system, messages) => {
    // Each message brings the comma before it; the first has none.
    const pieces = [BEGIN, encode(form.system(system, messages))];
    messages.forEach((message, position) => {
      let encoded = known.get(message);
      if (encoded === undefined) {
        const { wire, lasting } = form.message(message, messages, position);
        encoded = encode(wire);
        if (lasting) known.set(message, encoded);
      }
      pieces.push(encoded);
    });
    const first = pieces.findIndex((piece, index) => index > 0 && piece.length > 0);
    if (first > 0) pieces[first] = (pieces[first] as Buffer).subarray(COMMA.length);
    pieces.push(END);
    return pieces;
  };
}

function encode(wire: readonly object[]): Buffer {
  return Buffer.concat(wire.flatMap((message) => [COMMA, Buffer.from(JSON.stringify(message))]));
}

/** Takes the place of the messages while the client library encodes a request. */
export interface MessagesPlaceholder {
  messages: Array<{ role: 'user'; content: string }>;
  /** Sends the request with the messages where their placeholder was. */
  fill(fetchImplementation: typeof fetch): typeof fetch;
}

export function holdPlace(mark: string, encoded: readonly Buffer[]): MessagesPlaceholder {
  const messages = [{ role: 'user' as const, content: mark }];
  const held = JSON.stringify(messages);
  return {
    messages,
    fill: (fetchImplementation) => (input, init) => {
      const body = typeof init?.body === 'string' ? init.body : '';
      const from = body.indexOf(held);
      if (from < 0) throw new Error('The client library encoded the request in a way that is not known here.');
      const parts = [Buffer.from(body.slice(0, from)), ...encoded, Buffer.from(body.slice(from + held.length))];
      return fetchImplementation(input, { ...init, body: Buffer.concat(parts) });
    },
  };
}

/**
 * Reads requests of conversations that grow. Each turn sends the whole conversation again; a model server that parsed it
 * all each time would take longer with every turn, and its time would be measured as that of whoever asks. So what a
 * request begins with, byte for byte, as an earlier one did is not parsed again.
 */
import type { ParseRequest, WireMessage, WireRequest } from '../models/demo/completion-wire';
import { parseWireRequest } from '../models/demo/completion-wire';

interface Known {
  /** Everything up to the end of the last message. */
  beginning: Buffer;
  /** What the beginning says. */
  head: Omit<WireRequest, 'messages'>;
  messages: WireMessage[];
}

const MESSAGES_BEGIN = Buffer.from('"messages":[');

/** Conversations that are remembered; the oldest are forgotten first. */
const MAX_KNOWN = 100;

export function createGrowingConversations(): ParseRequest {
  const known: Known[] = [];

  return (body) => {
    const index = known.findIndex(({ beginning }) => startsWith(body, beginning));
    const earlier = known[index];
    const request = (earlier && goOn(earlier, body)) ?? parseWireRequest(body);
    const next = request && remember(body, request);
    if (next === null) return request;
    if (earlier !== undefined) known.splice(index, 1);
    known.unshift(next);
    known.length = Math.min(known.length, MAX_KNOWN);
    return request;
  };
}

function startsWith(body: Buffer, beginning: Buffer): boolean {
  return body.length >= beginning.length && body.compare(beginning, 0, beginning.length, 0, beginning.length) === 0;
}

/** Null where the rest cannot be read by itself. */
function goOn({ beginning, head, messages }: Known, body: Buffer): WireRequest | null {
  const rest = parseWireRequest(Buffer.concat([Buffer.from('{"messages":[0'), body.subarray(beginning.length)]));
  return rest && { ...head, ...rest, messages: messages.concat(rest.messages.slice(1)) };
}

/** Null where the end of the last message cannot be told, as in a body with blanks between its parts. */
function remember(body: Buffer, request: WireRequest): Known | null {
  const last = request.messages.at(-1);
  const from = body.indexOf(MESSAGES_BEGIN);
  if (last === undefined || from < 0) return null;
  const text = Buffer.from(`${JSON.stringify(last)}]`);
  const at = body.lastIndexOf(text);
  if (at < from) return null;
  const head = parseWireRequest(Buffer.concat([body.subarray(0, from), Buffer.from('"messages":[]}')]));
  return head && { beginning: body.subarray(0, at + text.length - 1), head, messages: request.messages };
}

import type { AiMessage, Message, ToolMessage } from '../../contracts';

/**
 * Makes every tool call paired, for the request only: strict providers refuse a history in
 * which a call has no result, a result has no call, or something stands between the two.
 *
 * Results follow their reply in the order of its calls; a call without a result gets one that says so; results without
 * a call are dropped. Ids may repeat in later replies, so pairing never looks past the next reply.
 */
export function repairToolCalls(messages: readonly Message[]): Message[] {
  const repaired: Message[] = [];
  for (let position = 0; position < messages.length;) {
    const end = endOfTurn(messages, position);
    addTurn(repaired, messages, position, end);
    position = end;
  }
  return repaired;
}

/** Where the next reply is: everything from one reply to the next belongs together. */
function endOfTurn(messages: readonly Message[], from: number): number {
  let end = from + 1;
  while (end < messages.length && messages[end]?.type !== 'ai') end += 1;
  return end;
}

function addTurn(repaired: Message[], messages: readonly Message[], from: number, end: number): void {
  const first = messages[from];
  const reply = first?.type === 'ai' && first.tool_calls.length > 0 ? first : null;
  if (reply !== null && isPaired(reply, messages, from, end)) {
    for (let position = from; position < end; position += 1) repaired.push(messages[position] as Message);
    return;
  }
  const turn = messages.slice(from, end);
  if (reply !== null) repaired.push(reply, ...pairedResults(reply, turn));
  repaired.push(...turn.filter((message) => message !== reply && message.type !== 'tool'));
}

/** Whether nothing but the results follows, in order: so are nearly all turns, and a long run has thousands of them. */
function isPaired(reply: AiMessage, messages: readonly Message[], from: number, end: number): boolean {
  const { tool_calls: calls } = reply;
  if (end - from - 1 !== calls.length) return false;
  return calls.every(({ id }, index) => {
    const message = messages[from + 1 + index];
    return message?.type === 'tool' && message.tool_call_id === id;
  });
}

function pairedResults(reply: AiMessage, turn: readonly Message[]): ToolMessage[] {
  const results = new Map<string, ToolMessage>();
  for (const message of turn) {
    if (message.type === 'tool' && !results.has(message.tool_call_id)) results.set(message.tool_call_id, message);
  }
  const invalid = new Set(reply.invalid_tool_calls.map((call) => call.id));
  return reply.tool_calls.map(({ id, name }) => results.get(id) ?? missingResult(reply.id, id, name, invalid.has(id)));
}

function missingResult(replyId: string, toolCallId: string, name: string, invalid: boolean): ToolMessage {
  return {
    type: 'tool',
    id: `${replyId}:${toolCallId}:missing`,
    tool_call_id: toolCallId,
    name,
    status: 'error',
    content: invalid
      ? 'Error: the arguments of this call were no valid JSON object, so the tool did not run.'
      : 'Error: this tool call was interrupted before it gave a result.',
    artifact: null,
    additional_kwargs: {},
    response_metadata: {},
  };
}

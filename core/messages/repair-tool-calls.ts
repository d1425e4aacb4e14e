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
  let open: { reply: AiMessage; results: Map<string, ToolMessage> } | null = null;
  let others: Message[] = [];

  const flush = (): void => {
    if (open !== null) repaired.push(open.reply, ...pairedResults(open.reply, open.results));
    repaired.push(...others);
    open = null;
    others = [];
  };

  for (const message of messages) {
    if (message.type === 'ai') {
      flush();
      if (message.tool_calls.length > 0) open = { reply: message, results: new Map() };
      else others.push(message);
    } else if (message.type === 'tool') {
      const current: { results: Map<string, ToolMessage> } | null = open;
      if (current !== null && !current.results.has(message.tool_call_id)) {
        current.results.set(message.tool_call_id, message);
      }
    } else {
      others.push(message);
    }
  }
  flush();
  return repaired;
}

function pairedResults(reply: AiMessage, results: Map<string, ToolMessage>): ToolMessage[] {
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

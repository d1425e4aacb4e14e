/** Anthropic's messages API: events with a type. */
import { anthropicFaults } from './anthropic-rules';
import type { Wire } from './wire';
import { cutUp, words } from './wire';

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const ANTHROPIC_FINISH = { stop: 'end_turn', tools: 'tool_use', length: 'max_tokens', safety: 'refusal' } as const;

export const anthropicWire: Wire = {
  faults: anthropicFaults,
  reply({ thinking, text = '', calls = [], pieces = 1, half = false, usage = { input: 10, output: 5 }, finish }) {
    const parts: string[] = [];
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
    const counted = usage === null ? {} : { usage: { input_tokens: usage.input, output_tokens: 0 } };
    parts.push(event('message_start', { message: { ...message, ...counted } }));
    let index = 0;
    const block = (start: object, deltas: readonly object[]): void => {
      parts.push(event('content_block_start', { index, content_block: start }));
      for (const delta of deltas) parts.push(event('content_block_delta', { index, delta }));
      parts.push(event('content_block_stop', { index }));
      index += 1;
    };
    if (thinking !== undefined) {
      block({ type: 'thinking', thinking: '', signature: '' }, [
        ...words(thinking.text).map((part) => ({ type: 'thinking_delta', thinking: part })),
        { type: 'signature_delta', signature: thinking.signature },
      ]);
    }
    const texts = words(text).map((part) => ({ type: 'text_delta', text: part }));
    if (text !== '') block({ type: 'text', text: '' }, texts);
    for (const { id, name, args } of calls) {
      const json = cutUp(JSON.stringify(args), pieces, half);
      block(
        { type: 'tool_use', id, name, input: {} },
        json.map((part) => ({ type: 'input_json_delta', partial_json: part })),
      );
    }
    if (half) parts.pop();
    const reason = finish === undefined ? (calls.length > 0 ? 'tools' : 'stop') : finish;
    if (reason !== null) {
      const delta = { stop_reason: ANTHROPIC_FINISH[reason], stop_sequence: null };
      parts.push(
        event('message_delta', { delta, ...(usage === null ? {} : { usage: { output_tokens: usage.output } }) }),
      );
      parts.push(event('message_stop', {}));
    }
    return { contentType: 'text/event-stream', parts };
  },
  error: (status, type, message, headers = {}) => ({
    status,
    headers,
    parts: [JSON.stringify({ type: 'error', error: { type, message } })],
  }),
  breakdown: (text, type, message) => {
    const { parts } = anthropicWire.reply({ text, finish: null });
    return { contentType: 'text/event-stream', parts: [...parts, event('error', { error: { type, message } })] };
  },
  idle: () => ({ contentType: 'text/event-stream', parts: [], forever: event('ping', {}) }),
};

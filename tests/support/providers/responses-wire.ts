/** OpenAI's Responses API: items with places in the output, each opened, streamed and closed, and the whole at the end. */
import type { ScriptedReply, Wire } from './wire';
import { cutUp, SCRIPTED_MODEL, words } from './wire';

const EVENTS = { contentType: 'text/event-stream' };
const INCOMPLETE = { length: 'max_output_tokens', safety: 'content_filter' } as const;

type Item = Record<string, unknown>;

export const responsesWire: Wire = {
  reply(reply) {
    const { thinking, text = '', calls = [], usage = { input: 10, output: 5 } } = reply;
    const { finish = calls.length > 0 ? 'tools' : 'stop' } = reply;
    const events = createEvents();
    events.send('response.created', { response: response({ status: 'in_progress', output: [] }) });
    if (thinking !== undefined) addThought(events, thinking);
    if (text !== '') addMessage(events, text);
    addCalls(events, reply);
    if (finish === null) return { ...EVENTS, parts: events.parts };
    const reason = finish === 'length' || finish === 'safety' ? INCOMPLETE[finish] : null;
    const status = reason === null ? 'completed' : 'incomplete';
    const ending = { status, output: events.output, incomplete_details: reason === null ? null : { reason } };
    events.send(`response.${status}`, { response: response({ ...ending, usage: usage && counted(usage) }) });
    return { ...EVENTS, parts: events.parts };
  },
  error: (status, type, message, headers = {}) => ({
    status,
    headers,
    parts: [JSON.stringify({ error: { message, type, code: null, param: null } })],
  }),
  breakdown(text, type, message) {
    const events = createEvents();
    events.send('response.output_text.delta', { output_index: 0, content_index: 0, item_id: 'msg_1', delta: text });
    const failed = { status: 'failed', output: [], error: { code: type, message } };
    events.send('response.failed', { response: response(failed) });
    return { ...EVENTS, parts: events.parts };
  },
  idle() {
    const events = createEvents();
    events.send('response.in_progress', { response: response({ status: 'in_progress', output: [] }) });
    return { ...EVENTS, parts: events.parts, forever: events.parts[0] ?? '' };
  },
};

interface Events {
  parts: string[];
  /** Items that are closed. */
  output: Item[];
  send(type: string, fields: object): void;
}

function createEvents(): Events {
  const parts: string[] = [];
  return {
    parts,
    output: [],
    send(type, fields) {
      const data = { type, sequence_number: parts.length, ...fields };
      parts.push(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    },
  };
}

function addItem(events: Events, begun: Item, done: Item, stream: (place: { output_index: number }) => void): void {
  const place = { output_index: events.output.length };
  events.send('response.output_item.added', { ...place, item: begun });
  stream(place);
  events.send('response.output_item.done', { ...place, item: done });
  events.output.push(done);
}

function addThought(events: Events, { text, signature }: { text: string; signature: string }): void {
  const begun = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: '' };
  const done = { ...begun, summary: [{ type: 'summary_text', text }], encrypted_content: signature };
  addItem(events, begun, done, (place) => {
    const part = { ...place, item_id: 'rs_1', summary_index: 0 };
    events.send('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
    for (const delta of words(text)) events.send('response.reasoning_summary_text.delta', { ...part, delta });
    events.send('response.reasoning_summary_text.done', { ...part, text });
  });
}

function addMessage(events: Events, text: string): void {
  const begun = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const done = { ...begun, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] };
  addItem(events, begun, done, (place) => {
    const part = { ...place, item_id: 'msg_1', content_index: 0 };
    for (const delta of words(text)) events.send('response.output_text.delta', { ...part, delta, logprobs: [] });
    events.send('response.output_text.done', { ...part, text, logprobs: [] });
  });
}

function addCalls(events: Events, { calls = [], pieces = 1, half = false, finish }: ScriptedReply): void {
  for (const { id, name, args } of calls) {
    const whole = JSON.stringify(args);
    const begun = { id: `fc_${id}`, type: 'function_call', call_id: id, name, arguments: '', status: 'in_progress' };
    const place = { output_index: events.output.length };
    const done = { ...begun, arguments: whole, status: 'completed' };
    events.send('response.output_item.added', { ...place, item: begun });
    for (const delta of cutUp(whole, pieces, half))
      events.send('response.function_call_arguments.delta', { ...place, item_id: begun.id, delta });
    if (half || finish === null) return;
    events.send('response.function_call_arguments.done', { ...place, item_id: begun.id, name, arguments: whole });
    events.send('response.output_item.done', { ...place, item: done });
    events.output.push(done);
  }
}

function response(fields: object): object {
  const frame = { id: 'resp_1', object: 'response', created_at: 1, model: SCRIPTED_MODEL, error: null };
  return { ...frame, incomplete_details: null, usage: null, ...fields };
}

function counted({ input, output }: { input: number; output: number }): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

/** MindIE where there are tools: one JSON document, in whose text the calls are written. */
import type { ScriptedCall, Wire } from './wire';
import { SCRIPTED_MODEL } from './wire';

const FINISH = { stop: 'stop', tools: 'stop', length: 'length', safety: 'content_filter' } as const;

export const mindIeWire: Wire = {
  reply({ thinking, text = '', calls = [], half = false, usage = { input: 10, output: 5 }, finish = 'stop' }) {
    const written = [text, ...calls.map(writtenCall)].join('\n');
    const content = half ? written.slice(0, -'</parameter> </function> </tool_call>'.length) : written;
    const message = {
      role: 'assistant',
      content,
      ...(thinking === undefined ? {} : { reasoning_content: thinking.text }),
    };
    const finish_reason = finish === null ? null : FINISH[finish];
    const document = completion({ message, finish_reason }, usage);
    // It has an end mark of its own: an answer that stops early is half a document, unless it stops within a call.
    return { parts: [finish === null && !half ? document.slice(0, document.length / 2) : document] };
  },
  error: (status, type, message, headers = {}) => ({
    status,
    headers,
    parts: [JSON.stringify({ error: { message, type } })],
  }),
  breakdown: (text, type, message) => ({
    parts: [
      completion({ message: { role: 'assistant', content: text }, finish_reason: null }, null, { type, message }),
    ],
  }),
  idle: () => ({ parts: [], forever: '\n' }),
};

function completion(choice: object, usage: { input: number; output: number } | null, error?: object): string {
  const counted =
    usage === null
      ? {}
      : {
          usage: {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input + usage.output,
          },
        };
  return JSON.stringify({ id: '1', model: SCRIPTED_MODEL, choices: [{ index: 0, ...choice }], ...counted, error });
}

function writtenCall({ name, args }: ScriptedCall): string {
  const parameters = Object.entries(args).map(
    ([key, value]) => `<parameter=${key}>${escape(String(value))}</parameter>`,
  );
  return `<tool_call> <function=${name}> ${parameters.join(' ')} </function> </tool_call>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

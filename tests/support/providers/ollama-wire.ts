/** Ollama: one JSON document per line. */
import type { Wire } from './wire';
import { words } from './wire';

export const ollamaWire: Wire = {
  reply({ thinking, text = '', calls = [], usage = { input: 10, output: 5 }, finish = 'stop' }) {
    const parts = [
      ...(thinking === undefined ? [] : words(thinking.text).map((part) => line({ thinking: part }))),
      ...words(text).map((part) => line({ content: part })),
      ...(calls.length === 0
        ? []
        : [line({ tool_calls: calls.map(({ name, args }) => ({ function: { name, arguments: args } })) })]),
    ];
    if (finish !== null) {
      const done_reason = finish === 'length' ? 'length' : 'stop';
      const counted = usage === null ? {} : { prompt_eval_count: usage.input, eval_count: usage.output };
      parts.push(line({}, { done: true, done_reason, ...counted }));
    }
    return { contentType: 'application/x-ndjson', parts };
  },
  error: (status, _type, message, headers = {}) => ({ status, headers, parts: [JSON.stringify({ error: message })] }),
  breakdown: (text, _type, message) => ({
    contentType: 'application/x-ndjson',
    parts: [line({ content: text }), `${JSON.stringify({ error: message })}\n`],
  }),
  idle: () => ({ contentType: 'application/x-ndjson', parts: [], forever: line({}) }),
};

function line(message: object, rest: object = {}): string {
  const said = { role: 'assistant', content: '', ...message };
  return `${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', message: said, done: false, ...rest })}\n`;
}

/** What three providers send, each in its own wire format. */
import type { ProviderAnswer } from './scripted-server';

export interface ScriptedCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export interface ScriptedReply {
  thinking?: { text: string; signature: string };
  text?: string;
  calls?: readonly ScriptedCall[];
  /** Into how many pieces the arguments of calls are cut, where the wire has pieces. */
  pieces?: number;
  usage?: { input: number; output: number };
  finish?: 'stop' | 'tools' | 'length' | 'safety' | null;
}

export interface Wire {
  reply(reply: ScriptedReply): ProviderAnswer;
  error(status: number, type: string, message: string, headers?: Record<string, string>): ProviderAnswer;
}

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const cut = (text: string, pieces: number): string[] => {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
};
const words = (text: string): string[] => text.split(/(?<= )/);

const ANTHROPIC_FINISH = { stop: 'end_turn', tools: 'tool_use', length: 'max_tokens', safety: 'refusal' } as const;

export const anthropicWire: Wire = {
  reply({ thinking, text = '', calls = [], pieces = 1, usage = { input: 10, output: 5 }, finish }) {
    const parts: string[] = [];
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
    parts.push(
      event('message_start', { message: { ...message, usage: { input_tokens: usage.input, output_tokens: 0 } } }),
    );
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
    if (text !== '')
      block(
        { type: 'text', text: '' },
        words(text).map((part) => ({ type: 'text_delta', text: part })),
      );
    for (const { id, name, args } of calls) {
      const json = cut(JSON.stringify(args), pieces);
      block(
        { type: 'tool_use', id, name, input: {} },
        json.map((part) => ({ type: 'input_json_delta', partial_json: part })),
      );
    }
    const reason = finish === undefined ? (calls.length > 0 ? 'tools' : 'stop') : finish;
    if (reason !== null) {
      const delta = { stop_reason: ANTHROPIC_FINISH[reason], stop_sequence: null };
      parts.push(event('message_delta', { delta, usage: { output_tokens: usage.output } }));
      parts.push(event('message_stop', {}));
    }
    return { contentType: 'text/event-stream', parts };
  },
  error: (status, type, message, headers = {}) => ({
    status,
    headers,
    parts: [JSON.stringify({ type: 'error', error: { type, message } })],
  }),
};

const GEMINI_FINISH = { stop: 'STOP', tools: 'STOP', length: 'MAX_TOKENS', safety: 'SAFETY' } as const;

export const geminiWire: Wire = {
  reply({ thinking, text = '', calls = [], usage = { input: 10, output: 5 }, finish = 'stop' }) {
    const line = (parts: readonly object[], rest: object = {}): string =>
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }] })}\n\n`;
    const lines = [
      ...(thinking === undefined ? [] : [line([{ text: thinking.text, thought: true }])]),
      ...words(text)
        .filter((part) => part !== '')
        .map((part) => line([{ text: part }])),
      ...calls.map(({ name, args }) =>
        line([
          {
            functionCall: { name, args },
            ...(thinking === undefined ? {} : { thoughtSignature: thinking.signature }),
          },
        ]),
      ),
    ];
    const usageMetadata = {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    };
    if (finish !== null) {
      const last = { content: { role: 'model', parts: [{ text: '' }] }, finishReason: GEMINI_FINISH[finish], index: 0 };
      lines.push(`data: ${JSON.stringify({ candidates: [last], usageMetadata })}\n\n`);
    }
    return { contentType: 'text/event-stream', parts: lines };
  },
  error: (status, type, message, headers = {}) => ({
    status,
    headers,
    parts: [JSON.stringify({ error: { code: status, status: type, message } })],
  }),
};

export const ollamaWire: Wire = {
  reply({ thinking, text = '', calls = [], usage = { input: 10, output: 5 }, finish = 'stop' }) {
    const line = (message: object, rest: object = {}): string =>
      `${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', message: { role: 'assistant', content: '', ...message }, done: false, ...rest })}\n`;
    const parts = [
      ...(thinking === undefined ? [] : words(thinking.text).map((part) => line({ thinking: part }))),
      ...words(text)
        .filter((part) => part !== '')
        .map((part) => line({ content: part })),
      ...(calls.length === 0
        ? []
        : [line({ tool_calls: calls.map(({ name, args }) => ({ function: { name, arguments: args } })) })]),
    ];
    if (finish !== null) {
      const done_reason = finish === 'length' ? 'length' : 'stop';
      parts.push(line({}, { done: true, done_reason, prompt_eval_count: usage.input, eval_count: usage.output }));
    }
    return { contentType: 'application/x-ndjson', parts };
  },
  error: (status, _type, message, headers = {}) => ({ status, headers, parts: [JSON.stringify({ error: message })] }),
};

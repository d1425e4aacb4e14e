/** Gemini's own API: whole candidates, one per event. */
import { geminiFaults } from './gemini-rules';
import type { Wire } from './wire';
import { words } from './wire';

const GEMINI_FINISH = { stop: 'STOP', tools: 'STOP', length: 'MAX_TOKENS', safety: 'SAFETY' } as const;

export const geminiWire: Wire = {
  faults: geminiFaults,
  reply({ thinking, text = '', calls = [], usage = { input: 10, output: 5 }, finish = 'stop' }) {
    const lines = [
      ...(thinking === undefined ? [] : [line([{ text: thinking.text, thought: true }])]),
      ...words(text).map((part) => line([{ text: part }])),
      ...calls.map(({ name, args }) =>
        line([
          {
            functionCall: { name, args },
            ...(thinking === undefined ? {} : { thoughtSignature: thinking.signature }),
          },
        ]),
      ),
    ];
    const usageMetadata = usage === null ? undefined : counted(usage);
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
  breakdown: (text, type, message) => ({
    contentType: 'text/event-stream',
    // Not an event like the others: the bare document.
    parts: [line([{ text }]), JSON.stringify({ error: { code: 503, status: type, message } })],
  }),
  idle: () => ({ contentType: 'text/event-stream', parts: [], forever: line([{ text: '' }]) }),
};

function line(parts: readonly object[]): string {
  return `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, index: 0 }] })}\n\n`;
}

function counted({ input, output }: { input: number; output: number }): object {
  return { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output };
}

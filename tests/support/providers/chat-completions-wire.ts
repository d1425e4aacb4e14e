/** Chat completions: one delta per event, as OpenAI and those who speak like it stream them. */
import type { ScriptedReply, Wire } from './wire';
import { cutUp, SCRIPTED_MODEL, words } from './wire';

export interface ChatCompletionsDialect {
  /** Where the thoughts are. */
  thoughts?: 'reasoning_content' | 'reasoning' | 'reasoning_details';
  /** Whether calls carry the signature of the thought before them. */
  signs?: boolean;
}

const FINISH = { stop: 'stop', tools: 'tool_calls', length: 'length', safety: 'content_filter' } as const;
const EVENTS = { contentType: 'text/event-stream' };

export function createChatCompletionsWire({
  thoughts = 'reasoning_content',
  signs = false,
}: ChatCompletionsDialect = {}): Wire {
  const thought = (text: string): object => ({ [thoughts]: thoughts === 'reasoning_details' ? [{ text }] : text });

  function callDeltas({ calls = [], pieces = 1, half, thinking }: ScriptedReply): object[] {
    const signature = signs && thinking !== undefined ? { thought_signature: thinking.signature } : {};
    return calls.flatMap(({ id, name, args }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, ...signature }] },
      ...cutUp(JSON.stringify(args), pieces, half).map((part) => ({
        tool_calls: [{ index, function: { arguments: part } }],
      })),
    ]);
  }

  return {
    reply(reply) {
      const { thinking, text = '', calls = [], usage = { input: 10, output: 5 } } = reply;
      const { finish = calls.length > 0 ? 'tools' : 'stop' } = reply;
      const parts = [
        { role: 'assistant', content: '' },
        ...words(thinking?.text ?? '').map(thought),
        ...words(text).map((content) => ({ content })),
        ...callDeltas(reply),
      ].map((delta) => event(choice(delta, null)));
      if (finish === null) return { ...EVENTS, parts };
      parts.push(event(choice({}, FINISH[finish])));
      if (usage !== null) parts.push(event({ choices: [], usage: counted(usage) }));
      return { ...EVENTS, parts: [...parts, 'data: [DONE]\n\n'] };
    },
    error: (status, type, message, headers = {}) => ({
      status,
      headers,
      parts: [JSON.stringify({ error: { message, type, code: null, param: null } })],
    }),
    breakdown: (text, type, message) => ({
      ...EVENTS,
      parts: [event(choice({ content: text }, null)), `data: ${JSON.stringify({ error: { message, type } })}\n\n`],
    }),
    idle: () => ({ ...EVENTS, parts: [event(choice({ content: '' }, null))], forever: event(choice({}, null)) }),
  };
}

function event(parts: object): string {
  const frame = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: SCRIPTED_MODEL };
  return `data: ${JSON.stringify({ ...frame, ...parts })}\n\n`;
}

function choice(delta: object, finish_reason: string | null): object {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

function counted({ input, output }: { input: number; output: number }): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

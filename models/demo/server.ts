/** The demo model as a server of OpenAI chat completions on this machine, so that it is called like any other model. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  chunkOf,
  completionOf,
  readWireRequest,
  sendEvent,
  sendJson,
  startEventStream,
  usageChunk,
  wireToolCall,
} from './completion-wire';
import type { WireCompletion, WireRequest, WireToolCall } from './completion-wire';
import { readConversation } from './conversation';
import { nextStep } from './next-step';

export interface DemoModel {
  /** For `base_url`. */
  readonly baseUrl: string;
  close(): Promise<void>;
}

export interface DemoModelOptions {
  /** Pause between words, so that people see the text arrive. */
  wordDelayMs?: number;
}

const MODEL = 'demo';
const CHARS_PER_TOKEN = 4;

export async function startDemoModel({ wordDelayMs = 10 }: DemoModelOptions = {}): Promise<DemoModel> {
  const server = createServer((request, response) => {
    answer(request, response, wordDelayMs).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, wordDelayMs: number): Promise<void> {
  if (request.method !== 'POST' || request.url?.split('?')[0] !== '/v1/chat/completions') {
    return sendJson(response, 404, { error: { message: 'The demo model only knows POST /v1/chat/completions' } });
  }
  const body = await readWireRequest(request);
  if (body === null) {
    return sendJson(response, 400, { error: { message: 'The body is no chat completion request' } });
  }
  const completion = complete(body);
  const id = `chatcmpl-${fingerprint(body, 0)}`;
  if (body.stream !== true) return sendJson(response, 200, completionOf({ id, model: MODEL }, completion));
  startEventStream(response);
  for (const event of events(id, completion)) {
    if (response.destroyed) return;
    await sendEvent(response, event);
    await sleep(wordDelayMs);
  }
  if (body.stream_options?.include_usage === true)
    await sendEvent(response, usageChunk({ id, model: MODEL }, completion.usage));
  await sendEvent(response, '[DONE]');
  response.end();
}

function complete(body: WireRequest): WireCompletion {
  const step = nextStep(readConversation(body));
  const content = step.kind === 'text' ? step.text : '';
  const toolCalls: WireToolCall[] =
    step.kind === 'text'
      ? []
      : step.calls.map(({ tool, args }, index) => ({
          id: `call_${fingerprint(body, index)}`,
          name: tool,
          arguments: JSON.stringify(args),
        }));
  const produced = content.length + toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
  return {
    content,
    toolCalls,
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    usage: { input: tokens(JSON.stringify(body.messages).length), output: tokens(produced) },
  };
}

function* events(id: string, { content, toolCalls, finishReason }: WireCompletion): Generator<unknown> {
  const to = { id, model: MODEL };
  yield chunkOf(to, { role: 'assistant', content: '' });
  for (const word of content.match(/\s*\S+/g) ?? []) yield chunkOf(to, { content: word });
  for (const [index, call] of toolCalls.entries()) yield chunkOf(to, { tool_calls: [wireToolCall(call, index)] });
  yield chunkOf(to, {}, finishReason);
}

/** The same conversation gives the same ids, and another one other ids. */
function fingerprint(body: WireRequest, index: number): string {
  const hash = createHash('sha256').update(JSON.stringify(body.messages)).update(`#${index}`);
  return hash.digest('hex').slice(0, 16);
}

function tokens(characters: number): number {
  return Math.ceil(characters / CHARS_PER_TOKEN);
}

/**
 * A model for the checks: it says the first half of its words, waits until it may go on, and says the rest. So a run is
 * at work for exactly as long as a check needs, whatever the speed of the machine.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  chunkOf,
  completionOf,
  readWireRequest,
  sendEvent,
  sendJson,
  startEventStream,
  usageChunk,
} from '../../../models/demo/completion-wire';

export interface HeldModel {
  baseUrl: string;
  /** From now on replies stop half-way. Gives back what lets those go on that have stopped. */
  hold(): () => void;
  close(): Promise<void>;
}

const WORDS = ['one', ' two', ' three', ' four', ' five', ' six', ' seven', ' eight'];
const HALF = WORDS.length / 2;
export const FIRST_HALF = WORDS.slice(0, HALF).join('');
export const ALL_WORDS = WORDS.join('');

const TO = { id: 'chatcmpl-check', model: 'words' };
const USAGE = { input: 1, output: WORDS.length };

export async function startHeldModel(): Promise<HeldModel> {
  let released: Promise<void> = Promise.resolve();
  const server = createServer((request, response) => {
    readWireRequest(request)
      .then((wanted) => {
        if (wanted === null) return sendJson(response, 400, { error: { message: 'This is no chat completion.' } });
        const reply = { content: ALL_WORDS, toolCalls: [], finishReason: 'stop', usage: USAGE };
        if (wanted.stream !== true) return sendJson(response, 200, completionOf(TO, reply));
        return stream(response, released);
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    hold() {
      let release: () => void = () => undefined;
      released = new Promise((resolve) => (release = resolve));
      return release;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function stream(response: ServerResponse, released: Promise<void>): Promise<void> {
  const say = async (words: readonly string[]) => {
    for (const content of words) await sendEvent(response, chunkOf(TO, { content }));
  };
  startEventStream(response);
  await sendEvent(response, chunkOf(TO, { role: 'assistant', content: '' }));
  await say(WORDS.slice(0, HALF));
  await Promise.race([released, new Promise<void>((resolve) => response.once('close', resolve))]);
  await say(WORDS.slice(HALF));
  await sendEvent(response, chunkOf(TO, {}, 'stop'));
  await sendEvent(response, usageChunk(TO, USAGE));
  await sendEvent(response, '[DONE]');
  response.end();
}

/** A scripted provider of OpenAI chat completions over real HTTP. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  chunkOf,
  completionOf,
  parseWireRequest,
  readWireRequest,
  sendEvent,
  sendJson,
  startEventStream,
  usageChunk,
  wireToolCall,
} from '../../../models/demo/completion-wire';
import type { ParseRequest, WireRequest } from '../../../models/demo/completion-wire';
import { planStep } from './plan';
import type { ReplyStep, Step } from './steps';
import { brokenRule } from './strict';

export interface RecordedRequest {
  /** Milliseconds since the epoch. */
  at: number;
  /** The script that answered. */
  key: string;
  headers: IncomingHttpHeaders;
  body: WireRequest;
  /** The client went away before the answer was complete. */
  abandoned: boolean;
}

export interface FakeModel {
  /** Goes into `base_url`. */
  readonly baseUrl: string;
  readonly requests: RecordedRequest[];
  /** Requests beyond a script's end; each was answered with 500. */
  readonly unexpected: RecordedRequest[];
  /** Rules of strict providers that requests broke; each was answered with 400. */
  readonly violations: string[];
  /** Sets what the model of that name answers, in order; `default` is for every other name. */
  script(key: string, steps: readonly Step[]): void;
  /** Steps of a script that were not used yet. */
  remaining(key?: string): number;
  /** Requests that one script answered. */
  requestsOf(key: string): RecordedRequest[];
  waitForRequests(count: number, options?: { key?: string; timeoutMs?: number }): Promise<RecordedRequest[]>;
  /** Throws where a request was not scripted or broke a rule. */
  assertClean(): void;
  close(): Promise<void>;
}

export interface FakeModelOptions {
  /** Refuse what strict providers refuse. */
  strict?: boolean;
  port?: number;
  /** False keeps no requests, for long load tests. */
  record?: boolean;
  /** How a body is read, for long conversations that come again and again. */
  parse?: ParseRequest;
  /** Hears every request, also those that break a rule, for who keeps none. */
  observe?: (request: WireRequest) => void;
  /** Answers what no script answers. */
  answer?: (request: WireRequest) => Step | null;
  /** Called when a question was read; what it returns is called when the whole reply was sent. */
  onAsked?: (request: WireRequest) => ((sent: { step: Step; bytes: number }) => void) | undefined;
}

export async function startFakeModel({
  strict = true,
  port = 0,
  record = true,
  parse = parseWireRequest,
  observe,
  answer: answerOf = planStep,
  onAsked,
}: FakeModelOptions = {}): Promise<FakeModel> {
  const scripts = new Map<string, Step[]>();
  const requests: RecordedRequest[] = [];
  const unexpected: RecordedRequest[] = [];
  const violations: string[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST' || request.url?.split('?')[0] !== '/v1/chat/completions') {
      return sendJson(response, 404, { error: { message: 'not found' } });
    }
    const body = await readWireRequest(request, parse);
    if (body === null) return sendJson(response, 400, { error: { message: 'the body is no request' } });
    const key = body.model !== undefined && scripts.has(body.model) ? body.model : 'default';
    const recorded: RecordedRequest = { at: Date.now(), key, headers: request.headers, body, abandoned: false };
    if (record) requests.push(recorded);
    observe?.(body);
    const gone = new AbortController();
    response.on('close', () => {
      recorded.abandoned = !response.writableFinished;
      gone.abort();
    });
    const fault = strict ? brokenRule(body) : null;
    if (fault !== null) {
      violations.push(fault);
      return sendJson(response, 400, { error: { message: fault, type: 'invalid_request_error' } });
    }
    const step = takeStep(scripts.get(key)) ?? answerOf(body);
    if (step === null) {
      unexpected.push(recorded);
      return sendJson(response, 500, { error: { message: 'the script has no further reply' } });
    }
    const onAnswered = onAsked?.(body);
    const before = request.socket.bytesWritten;
    if (onAnswered) response.on('finish', () => onAnswered({ step, bytes: request.socket.bytesWritten - before }));
    await perform(step, body, response, gone.signal);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.destroyed) response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const requestsOf = (key: string) => requests.filter((request) => request.key === key);
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    unexpected,
    violations,
    script: (key, steps) =>
      void scripts.set(
        key,
        steps.map((step) => ({ ...step })),
      ),
    remaining: (key = 'default') => scripts.get(key)?.length ?? 0,
    requestsOf,
    async waitForRequests(count, { key, timeoutMs = 10_000 } = {}) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const found = key === undefined ? requests : requestsOf(key);
        if (found.length >= count) return found;
        if (Date.now() > deadline) throw new Error(`the model got ${found.length} of ${count} requests`);
        await sleep(10);
      }
    },
    assertClean() {
      if (violations.length > 0) throw new Error(`requests broke a provider's rules: ${violations.join('; ')}`);
      if (unexpected.length > 0) throw new Error(`the model was called ${unexpected.length} times more than scripted`);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A failure stays at the head of its script as often as it says. */
function takeStep(script: Step[] | undefined): Step | null {
  const [step] = script ?? [];
  if (step === undefined) return null;
  if (step.kind === 'fail' && step.times > 1) step.times -= 1;
  else script?.shift();
  return step;
}

async function perform(step: Step, body: WireRequest, response: ServerResponse, gone: AbortSignal): Promise<void> {
  switch (step.kind) {
    case 'hang':
      await sleep(step.ms, undefined, { signal: gone });
      return perform(step.next, body, response, gone);
    case 'fail':
      response.writeHead(step.status, { 'content-type': 'application/json', ...step.headers });
      response.end(step.body);
      return;
    case 'body':
      response.writeHead(step.status, { 'content-type': step.contentType });
      response.end(step.body);
      return;
    case 'empty-choices':
      if (!body.stream) return sendJson(response, 200, { ...completionOf(envelope(body), NOTHING), choices: [] });
      startEventStream(response);
      await sendEvent(response, usageChunk(envelope(body), { input: 0, output: 0 }));
      return endStream(response);
    case 'error-in-stream':
      startEventStream(response);
      for (let count = 0; count < step.afterChunks; count += 1) {
        await sendEvent(response, chunkOf(envelope(body), { role: 'assistant', content: 'part ' }));
      }
      await sendEvent(response, { error: step.error });
      response.end();
      return;
    case 'reply':
      return body.stream ? streamReply(step, body, response, gone) : sendReply(step, body, response);
  }
}

const NOTHING = { content: '', toolCalls: [], finishReason: 'stop', usage: { input: 0, output: 0 } };

function sendReply(step: ReplyStep, body: WireRequest, response: ServerResponse): void {
  if (step.breakOff === undefined) return sendJson(response, 200, completionOf(envelope(body), step));
  response.writeHead(200, { 'content-type': 'application/json' });
  const half = JSON.stringify(completionOf(envelope(body), step)).slice(0, 40);
  if (step.breakOff.how === 'cut-json') response.end(half);
  else response.write(half, () => (step.breakOff?.how === 'cut' ? response.destroy() : undefined));
}

/** The finish reason or the usage. */
function isEnding(event: unknown): boolean {
  const [choice] = (event as { choices?: { finish_reason?: string | null }[] }).choices ?? [];
  return choice === undefined || (choice.finish_reason ?? null) !== null;
}

async function streamReply(
  step: ReplyStep,
  body: WireRequest,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  startEventStream(response);
  const events = [...replyEvents(step, body)];
  const limit = step.breakOff?.afterChunks ?? events.length;
  const begun = performance.now();
  for (const [count, event] of events.entries()) {
    if (count >= limit) return breakOff(step, event, response);
    // The first event only opens the reply, and providers send its end at once.
    const isPart = !isEnding(event);
    const pause = isPart ? pauseBefore(step, count, performance.now() - begun) : 0;
    if (pause > 0) await sleep(pause, undefined, { signal: gone });
    await sendEvent(response, step.stamped ? stamped(event) : event);
  }
  return endStream(response);
}

function stamped(event: unknown): string {
  return JSON.stringify(event).replaceAll('@now', () => `@${Date.now()}`);
}

/** A rate is kept from the beginning of the reply: a pause that took too long shortens the next. */
function pauseBefore({ delayMs, perSecond }: ReplyStep, count: number, elapsedMs: number): number {
  if (count === 0) return 0;
  return perSecond === undefined ? delayMs : Math.max(0, ((count - 1) * 1000) / perSecond - elapsedMs);
}

function breakOff(step: ReplyStep, event: unknown, response: ServerResponse): void {
  if (step.breakOff?.how === 'cut') setImmediate(() => response.socket?.destroy());
  if (step.breakOff?.how === 'cut-json') response.end(`data: ${JSON.stringify(event).slice(0, 30)}\n\n`);
}

function* replyEvents(step: ReplyStep, body: WireRequest): Generator<unknown> {
  const to = envelope(body);
  yield chunkOf(to, { role: 'assistant', content: '' });
  if (step.reasoning !== undefined) yield chunkOf(to, { reasoning_content: step.reasoning });
  for (const piece of step.pieces) yield chunkOf(to, { content: piece });
  for (const [index, toolCall] of step.toolCalls.entries())
    yield chunkOf(to, { tool_calls: [wireToolCall(toolCall, index)] });
  if (step.finishReason !== null) yield chunkOf(to, {}, step.finishReason);
  if (body.stream_options?.include_usage === true) yield usageChunk(to, step.usage);
}

async function endStream(response: ServerResponse): Promise<void> {
  await sendEvent(response, '[DONE]');
  response.end();
}

let replyCount = 0;

/** Every reply has an id of its own, as with a real provider: clients tell messages apart by it. */
function envelope(body: WireRequest) {
  replyCount += 1;
  return { id: `chatcmpl-scripted-${replyCount}`, model: body.model ?? 'scripted' };
}

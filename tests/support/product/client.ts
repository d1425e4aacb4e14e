import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue, RunRecord } from '../../../contracts';

export interface Frame {
  event: string;
  data: JsonValue;
  id: string | null;
}

export interface Answer<T = JsonValue> {
  status: number;
  headers: Headers;
  body: T;
}

export interface StreamOptions {
  path: string;
  body?: JsonValue;
  lastEventId?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Called for every frame; true ends reading and closes the connection. */
  until?: (frame: Frame, frames: readonly Frame[]) => boolean;
}

/** The smallest client that a test needs: JSON requests, and SSE frames as they come. */
export interface ApiClient {
  request<T = JsonValue>(
    method: string,
    path: string,
    body?: JsonValue,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>;
  stream(options: StreamOptions): Promise<{ frames: Frame[]; headers: Headers; status: number; comments: number[] }>;
  newThread(): Promise<string>;
  /** Polls the run record until the run has ended. */
  ended(threadId: string, runId: string, timeoutMs?: number): Promise<RunRecord>;
  values(threadId: string): Promise<ThreadValues>;
}

export interface ThreadValues {
  messages: Array<JsonObject & { type: string; id: string; content: JsonValue }>;
  title?: string;
  artifacts?: string[];
}

export function ask(text: string, extra: JsonObject = {}): JsonObject {
  return { assistant_id: 'lead_agent', input: { messages: [{ role: 'user', content: text }] }, ...extra };
}

const POLL_MS = 50;

/** @param url gives the address at each request: the process that served the last one may be gone. */
export function createApiClient(url: () => string): ApiClient {
  async function request<T>(method: string, path: string, body?: JsonValue, headers: Record<string, string> = {}) {
    const response = await fetch(url() + path, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as T };
  }
  return {
    request,
    stream: (options) => readStream(url(), options),
    async newThread() {
      const threadId = randomUUID();
      await request('POST', '/api/threads', { thread_id: threadId });
      return threadId;
    },
    async ended(threadId, runId, timeoutMs = 30_000) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const { body } = await request<RunRecord>('GET', `/api/threads/${threadId}/runs/${runId}`).catch(() => ({
          body: null,
        }));
        if (body !== null && !['pending', 'running'].includes(body.status)) return body;
        if (Date.now() > deadline) throw new Error(`the run did not end: ${JSON.stringify(body)}`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    async values(threadId) {
      return (await request<{ values: ThreadValues }>('GET', `/api/threads/${threadId}/state`)).body.values;
    },
  };
}

async function readStream(base: string, options: StreamOptions) {
  const abort = new AbortController();
  const headers: Record<string, string> = { ...options.headers };
  if (options.body !== undefined) headers['content-type'] = 'application/json';
  if (options.lastEventId !== undefined) headers['last-event-id'] = options.lastEventId;
  const response = await fetch(base + options.path, {
    method: options.body === undefined ? 'GET' : 'POST',
    headers,
    body: options.body === undefined ? undefined : JSON.stringify(options.body),
    signal: options.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, options.signal]),
  });
  const frames: Frame[] = [];
  const comments: number[] = [];
  const result = { frames, comments, headers: response.headers, status: response.status };
  if (response.body === null) return result;
  const decoder = new TextDecoder();
  let pending = '';
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      pending += decoder.decode(chunk, { stream: true });
      for (let end = pending.indexOf('\n\n'); end >= 0; end = pending.indexOf('\n\n')) {
        const block = pending.slice(0, end);
        pending = pending.slice(end + 2);
        if (block.startsWith(':')) comments.push(Date.now());
        else {
          const frame = parseFrame(block);
          frames.push(frame);
          if (options.until?.(frame, frames) === true) return result;
        }
      }
    }
  } catch (error) {
    if (options.signal?.aborted !== true && options.until === undefined) throw error;
  } finally {
    abort.abort();
  }
  return result;
}

function parseFrame(block: string): Frame {
  const field = (name: string): string | null => {
    const line = block.split('\n').find((candidate) => candidate.startsWith(`${name}: `));
    return line === undefined ? null : line.slice(name.length + 2);
  };
  return {
    event: field('event') ?? 'message',
    data: JSON.parse(field('data') ?? 'null') as JsonValue,
    id: field('id'),
  };
}

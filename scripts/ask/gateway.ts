/** The requests that `ask` makes of the API. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { AppError, type JsonObject, type JsonValue, type RunStatus } from '../../contracts';
import { asObject, asText } from './json-access';

export interface UploadedFile {
  filename: string;
  size: number;
  virtual_path: string;
}

export interface RunRecord {
  status: RunStatus;
  total_tokens?: number | null;
  error?: { message?: string | null } | null;
}

export interface StreamRequest {
  threadId: string;
  runId: string;
  lastEventId?: string;
  signal: AbortSignal;
}

export interface Gateway {
  url: string;
  isUp(signal: AbortSignal): Promise<boolean>;
  createThread(signal: AbortSignal): Promise<string>;
  upload(threadId: string, paths: readonly string[], signal: AbortSignal): Promise<UploadedFile[]>;
  /** Repeating a start with the same key gives the same run. */
  startRun(threadId: string, body: JsonObject, options: { key: string; signal: AbortSignal }): Promise<Response>;
  joinRun(request: StreamRequest): Promise<Response>;
  readRun(threadId: string, runId: string): Promise<RunRecord>;
  readValues(threadId: string): Promise<JsonObject>;
  /** Returns when the run has come to its end. */
  cancelRun(threadId: string, runId: string): Promise<void>;
}

const REQUEST_LIMIT_MS = 30_000;
const UPLOAD_LIMIT_MS = 300_000;
export const STREAM_MODES = ['messages-tuple', 'values', 'custom'];

export function createGateway(url: string): Gateway {
  const threadUrl = (threadId: string) => `${url}/api/threads/${encodeURIComponent(threadId)}`;
  const runsUrl = (threadId: string) => `${url}/api/langgraph/threads/${encodeURIComponent(threadId)}/runs`;
  const runUrl = (threadId: string, runId: string) => `${runsUrl(threadId)}/${encodeURIComponent(runId)}`;

  return {
    url,
    async isUp(signal) {
      try {
        return (await fetch(`${url}/health`, { signal: within(5_000, signal) })).ok;
      } catch {
        return false;
      }
    },
    async createThread(signal) {
      const thread = await requestJson(`${url}/api/langgraph/threads`, postJson({ metadata: {} }, signal));
      return asText(asObject(thread).thread_id);
    },
    async upload(threadId, paths, signal) {
      const form = new FormData();
      for (const path of paths) form.append('files', await openAsBlob(path), basename(path));
      const init = { method: 'POST', body: form, signal: within(UPLOAD_LIMIT_MS, signal) };
      const answer = (await requestJson(`${threadUrl(threadId)}/uploads`, init)) as unknown as {
        files: UploadedFile[];
      };
      return answer.files;
    },
    startRun: async (threadId, body, { key, signal }) => {
      const init = postJson(body, signal, { 'idempotency-key': key, accept: 'text/event-stream' });
      // The stream lasts as long as the run: only the caller ends it.
      return expectOk(await fetch(`${runsUrl(threadId)}/stream`, { ...init, signal }));
    },
    joinRun: async ({ threadId, runId, lastEventId, signal }) => {
      const query = STREAM_MODES.map((mode) => `stream_mode=${mode}`).join('&');
      const headers = { accept: 'text/event-stream', ...(lastEventId ? { 'last-event-id': lastEventId } : {}) };
      return expectOk(await fetch(`${runUrl(threadId, runId)}/stream?${query}`, { headers, signal }));
    },
    readRun: async (threadId, runId) =>
      (await requestJson(runUrl(threadId, runId), { signal: within(REQUEST_LIMIT_MS) })) as unknown as RunRecord,
    readValues: async (threadId) => {
      const state = await requestJson(`${threadUrl(threadId)}/state`, { signal: within(REQUEST_LIMIT_MS) });
      return asObject(asObject(state).values);
    },
    cancelRun: async (threadId, runId) => {
      const init = { method: 'POST', signal: within(REQUEST_LIMIT_MS) };
      const response = await fetch(`${runUrl(threadId, runId)}/cancel?wait=1&action=interrupt`, init);
      // A conflict means that the run ended by itself before the wish arrived.
      if (response.status !== 409) await expectOk(response);
    },
  };
}

function within(limitMs: number, signal?: AbortSignal): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])]);
}

function postJson(body: JsonObject, signal: AbortSignal, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: within(REQUEST_LIMIT_MS, signal),
  };
}

async function requestJson(url: string, init: RequestInit): Promise<JsonValue> {
  return (await (await expectOk(await fetch(url, init))).json()) as JsonValue;
}

/** An answer that refuses becomes an error with the API's own words. */
async function expectOk(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text().catch(() => '');
  const code = response.status >= 500 ? 'unavailable' : 'conflict';
  throw new AppError(code, `The API answered ${response.status}: ${wordsOf(text)}`);
}

function wordsOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    if (typeof detail === 'string') return detail;
    if (Array.isArray(detail)) return detail.map((item: { msg?: unknown }) => String(item.msg)).join('; ');
    return JSON.stringify(detail ?? text);
  } catch {
    return text.slice(0, 300);
  }
}

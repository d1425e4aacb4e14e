/** Stands in for DeerFlow's web UI: the requests that it sends, byte by byte, and what it refuses in the answers. */
import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../contracts';
import type { Answer, ApiClient, Frame, ThreadValues } from '../support/product';

export interface PageRow {
  run_id: string;
  seq: number;
  content: ThreadValues['messages'][number];
  metadata: JsonObject;
  created_at: string;
}

export interface MessagesPage {
  data: PageRow[];
  has_more: boolean;
  next_before_seq: number | null;
}

export interface HistoryItem {
  values: ThreadValues;
  checkpoint?: JsonObject;
}

export interface SentFile {
  filename: string;
  size: number;
  virtual_path: string;
}

export interface SearchRow {
  thread_id: string;
  updated_at: string;
  values: { title?: string };
  metadata: JsonObject;
}

/** What the thread holds, as the page asks for it once a stream has closed. */
export interface Reloaded {
  history: HistoryItem[];
  page: MessagesPage;
  row: SearchRow | undefined;
  usage: JsonObject;
}

export const SEARCH = {
  limit: 50,
  offset: 0,
  sort_by: 'updated_at',
  sort_order: 'desc',
  select: ['thread_id', 'updated_at', 'values', 'metadata'],
};

const PROMPT_MODES = ['messages-tuple', 'values', 'updates', 'custom'];

export function createWebUi(api: ApiClient, url: () => string) {
  async function read<T>(method: string, path: string, body?: JsonValue): Promise<T> {
    const answer = await api.request<T>(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
  const ui = {
    read,
    threadId: () => randomUUID(),
    createThread: (threadId: string) =>
      read<{ thread_id: string }>('POST', '/api/langgraph/threads', { metadata: {}, thread_id: threadId }),
    search: () => read<SearchRow[]>('POST', '/api/langgraph/threads/search', SEARCH),
    async page(threadId: string, query = ''): Promise<MessagesPage> {
      const path = `/api/threads/${threadId}/messages/page${query}`;
      const { status, body } = await api.request<JsonObject>('GET', path, undefined, {
        // The web UI says so although it sends nothing.
        'content-type': 'application/json',
      });
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
      return checkedPage(body);
    },
    history: (threadId: string) =>
      read<HistoryItem[]>('POST', `/api/langgraph/threads/${threadId}/history`, { limit: 1 }),
    async upload(
      threadId: string,
      files: Array<{ name: string; text: string }>,
    ): Promise<Answer<{ files: SentFile[] }>> {
      const form = new FormData();
      for (const { name, text } of files) form.append('files', new Blob([text]), name);
      const response = await fetch(`${url()}/api/threads/${threadId}/uploads`, { method: 'POST', body: form });
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as { files: SentFile[] },
      };
    },
    /** Sends a message, or what a prepared replay says, and reads the stream to its end. */
    send: (
      threadId: string,
      body: JsonObject,
      options: { signal?: AbortSignal; until?: (frame: Frame) => boolean } = {},
    ) =>
      api.stream({
        path: `/api/langgraph/threads/${threadId}/runs/stream`,
        body,
        headers: { accept: '*/*' },
        ...options,
      }),
    /** A new chat with finished turns. */
    async chat(...texts: string[]): Promise<string> {
      const threadId = randomUUID();
      await ui.createThread(threadId);
      for (const text of texts) await ui.send(threadId, message(threadId, text));
      return threadId;
    },
    /** The stop button. */
    async stop(threadId: string, runId: string): Promise<void> {
      const path = `/api/langgraph/threads/${threadId}/runs/${runId}/cancel?wait=0&action=interrupt`;
      const { status, body } = await api.request('POST', path);
      if (status !== 202 || body !== '') throw new Error(`stop: ${status} ${JSON.stringify(body)}`);
    },
    /** The next message as the page sends it: with the newest checkpoint that it has seen. */
    async say(threadId: string, text: string, seen?: HistoryItem[]) {
      return ui.send(
        threadId,
        message(threadId, text, { checkpoint: seenCheckpoint(seen ?? (await ui.history(threadId))) }),
      );
    },
    async reload(threadId: string): Promise<Reloaded> {
      const [history, page, rows, usage] = await Promise.all([
        ui.history(threadId),
        ui.page(threadId),
        ui.search(),
        read<JsonObject>('GET', `/api/threads/${threadId}/token-usage`),
        read('GET', `/api/langgraph/threads/${threadId}`),
      ]);
      return { history, page, row: rows.find((row) => row.thread_id === threadId), usage };
    },
  };
  return ui;
}

export type WebUi = ReturnType<typeof createWebUi>;

export interface MessageExtras {
  files?: SentFile[];
  checkpoint?: JsonObject | undefined;
}

/** The body of a message that is sent from the composer in mode "Flash". */
export function message(threadId: string, text: string, { files = [], checkpoint }: MessageExtras = {}): JsonObject {
  const sent = files.map(({ filename, size, virtual_path: path }) => ({ filename, size, path, status: 'uploaded' }));
  const kwargs: JsonObject = sent.length > 0 ? { files: sent } : {};
  return {
    ...frame(threadId),
    input: { messages: [{ type: 'human', content: [{ type: 'text', text }], additional_kwargs: kwargs }] },
    ...(checkpoint === undefined ? {} : { checkpoint }),
  };
}

/** What a prepared regenerate or edit is sent back with. */
export function replay(threadId: string, prepared: JsonObject): JsonObject {
  const { input = null, checkpoint = null, metadata = null } = prepared;
  return { ...frame(threadId), input, checkpoint, metadata };
}

function frame(threadId: string): JsonObject {
  return {
    assistant_id: 'lead_agent',
    stream_mode: PROMPT_MODES,
    on_disconnect: 'continue',
    config: { recursion_limit: 1000 },
    context: {
      model_name: 'scripted',
      mode: 'flash',
      thinking_enabled: false,
      is_plan_mode: false,
      subagent_enabled: false,
      thread_id: threadId,
      reasoning_effort: 'minimal',
    },
  };
}

function seenCheckpoint([newest]: HistoryItem[]): JsonObject | undefined {
  if (newest?.checkpoint === undefined) return undefined;
  const { thread_id: _, ...checkpoint } = newest.checkpoint;
  return checkpoint;
}

/** The run id as the page takes it out of the header: everything after `/runs/`. */
export function runIdOf(headers: Headers): string {
  return /\/runs\/(.+)/.exec(headers.get('content-location') ?? '')?.[1] ?? '';
}

/** The page refuses a whole answer for any of these. */
export function checkedPage(body: JsonObject): MessagesPage {
  const { data, has_more: more, next_before_seq: next } = body;
  if (!Array.isArray(data)) throw new Error('data is no list');
  if (typeof more !== 'boolean') throw new Error('has_more is no boolean');
  if (more ? !isSeq(next) : next !== null) throw new Error(`next_before_seq is ${JSON.stringify(next)}`);
  const rows = data as unknown as PageRow[];
  if (!rows.every(({ seq }) => isSeq(seq))) throw new Error('a seq is no integer from 1 on');
  if (new Set(rows.map(({ seq }) => seq)).size < rows.length) throw new Error('a seq comes twice');
  if (!rows.every(({ run_id: id, created_at: at }) => typeof id === 'string' && !Number.isNaN(Date.parse(at)))) {
    throw new Error('a row has no run or no time');
  }
  if (!rows.every(({ content, metadata }) => typeof content?.type === 'string' && typeof metadata === 'object')) {
    throw new Error('a row has no message or no metadata');
  }
  return { data: rows, has_more: more, next_before_seq: next as number | null };
}

function isSeq(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

interface ShownMessage {
  type: string;
  text: string;
}

/** What the page shows after these events: chunks of one id are joined, a whole state replaces everything. */
export function shown(frames: readonly Frame[]): ShownMessage[] {
  let messages = new Map<string, ShownMessage>();
  for (const { event, data } of frames) {
    if (event === 'values') {
      const values = data as unknown as ThreadValues;
      messages = new Map(values.messages.map((one) => [one.id, { type: one.type, text: textOf(one.content) }]));
    }
    if (event !== 'messages') continue;
    const [chunk] = data as unknown as [{ id: string | null; type: string; content: JsonValue }];
    if (chunk.id === null) continue;
    const known = chunk.type === 'AIMessageChunk' ? messages.get(chunk.id) : undefined;
    const type = chunk.type === 'AIMessageChunk' ? 'ai' : chunk.type;
    messages.set(chunk.id, { type, text: (known?.text ?? '') + textOf(chunk.content) });
  }
  return [...messages.values()];
}

export function textOf(content: JsonValue): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => ((part as JsonObject)['type'] === 'text' ? String((part as JsonObject)['text']) : ''))
    .join('');
}

/** Who said what, of the rows or messages that a person sees. */
export function spoken(messages: ReadonlyArray<ThreadValues['messages'][number]>): string[] {
  return messages
    .filter((one) => (one['additional_kwargs'] as JsonObject | undefined)?.['hide_from_ui'] !== true)
    .filter(({ content }) => textOf(content) !== '')
    .map(({ type, content }) => `${type}: ${textOf(content)}`);
}

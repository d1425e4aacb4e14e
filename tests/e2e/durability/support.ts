/** What the durability tests share: waiting, runs under way, effects in files, and streams read in two parts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, RunRecord } from '../../../contracts';
import type { ApiClient, Frame, Part, Product } from '../../support/product';
import { ask, createApiClient } from '../../support/product';
import { expectIncreasing } from '../../support/product/invariants';

const WAIT_MS = 20_000;

export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = WAIT_MS,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await delay(20);
  }
}

export interface StartedRun {
  threadId: string;
  runId: string;
}

/** Starts a run in the background, on a new thread unless one is named. */
export async function startRun(
  api: ApiClient,
  text: string,
  { threadId, ...extra }: JsonObject & { threadId?: string } = {},
): Promise<StartedRun> {
  const thread = threadId ?? (await api.newThread());
  const answer = await api.request<RunRecord>('POST', `/api/threads/${thread}/runs`, ask(text, extra));
  if (answer.status !== 200) throw new Error(`the run was not accepted: ${JSON.stringify(answer.body)}`);
  return { threadId: thread, runId: answer.body.run_id };
}

export function model(name: string): JsonObject {
  return { context: { model_name: name } };
}

export function apiOf(part: () => Part | undefined): ApiClient {
  return createApiClient(() => part()?.url ?? '');
}

/** A file in the workspace of a thread, as the virtual path that tools use and as the path on this host. */
export function workspaceFile(product: Product, threadId: string, name: string): { virtual: string; host: string } {
  return {
    virtual: `/mnt/user-data/workspace/${name}`,
    host: join(product.home, 'users/default/threads', threadId, 'user-data/workspace', name),
  };
}

/** The content of a file; empty where it is not there. */
export function contentOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

export async function untilContent(path: string, content: string): Promise<void> {
  await until(async () => (await contentOf(path)).includes(content), `"${content}" in a file`);
}

/** How many parts of replies have reached the log of a run. */
export async function streamedParts(product: Product, runId: string): Promise<number> {
  const { rows } = await product.pool.query<{ parts: number }>(
    "select count(*)::int as parts from run_events where run_id = $1 and kind = 'text-delta'",
    [runId],
  );
  return rows[0]?.parts ?? 0;
}

export interface BrokenReading {
  frames: Frame[];
  /** Resolves when the connection is gone. */
  broken: Promise<void>;
}

/** Reads a stream until its server dies; what had come is in `frames`. */
export function readUntilBroken(api: ApiClient, path: string, body?: JsonObject): BrokenReading {
  const reading: BrokenReading = { frames: [], broken: Promise.resolve() };
  const until = (frame: Frame): boolean => {
    reading.frames.push(frame);
    return false;
  };
  reading.broken = api.stream({ path, body, until }).then(
    () => undefined,
    () => undefined,
  );
  return reading;
}

export function lastId(frames: readonly Frame[]): string {
  const id = frames.findLast((frame) => frame.id !== null)?.id;
  if (id === undefined || id === null) throw new Error('nothing had been read');
  return id;
}

/** A stream that was read in parts has every frame of a whole reading, each once, and ends in order. */
export async function expectSeamless(
  api: ApiClient,
  { threadId, runId }: StartedRun,
  parts: ReadonlyArray<readonly Frame[]>,
): Promise<void> {
  const { frames: whole } = await api.stream({ path: `/api/threads/${threadId}/runs/${runId}/stream` });
  const read = parts.flat();
  expectIncreasing(read);
  expect(read.map(({ event, id }) => ({ event, id }))).toEqual(whole.map(({ event, id }) => ({ event, id })));
  expect(read.filter(({ event }) => event === 'messages')).toEqual(whole.filter(({ event }) => event === 'messages'));
  expect(read.at(-1)).toEqual({ event: 'end', data: null, id: null });
}

/** Text of the last message of a thread. */
export async function lastText(api: ApiClient, threadId: string): Promise<unknown> {
  return (await api.values(threadId)).messages.at(-1)?.content;
}

/** The one result of a tool call in a thread. */
export async function toolResult(api: ApiClient, threadId: string, toolCallId: string): Promise<string> {
  const results = (await api.values(threadId)).messages.filter((message) => message['tool_call_id'] === toolCallId);
  expect(results).toHaveLength(1);
  return String(results[0]?.content);
}

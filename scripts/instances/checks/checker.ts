/** What the checks share: the instances as clients see them, and the model that answers their runs. */
import { randomUUID } from 'node:crypto';
import { AppError, type JsonObject, type JsonValue } from '../../../contracts';
import { readFrames, type StreamFrame } from '../../ask/event-stream';
import { createGateway, STREAM_MODES, type Gateway } from '../../ask/gateway';
import { asObject, asObjects, asText } from '../../ask/json-access';
import type { Control } from '../control';
import type { RunningInstances } from '../state-folder';
import type { HeldModel } from './held-model';

export interface Checker {
  a: Gateway;
  b: Gateway;
  front: Gateway;
  control: Control;
  model: HeldModel;
  /** Registers the model of the checks at `a`, once. Gives back its name. */
  useModel: () => Promise<string>;
  /** Offers it to nobody any more. */
  forgetModel: () => Promise<void>;
  /** Starts a run on a new thread, with the model of the checks. */
  startRun: (at: Gateway) => Promise<StartedRun>;
}

export interface StartedRun {
  threadId: string;
  runId: string;
  response: Response;
}

/** The longest that one request or one stream of a check may take. */
const LIMIT_MS = 30_000;
export const MODEL_NAME = 'instances-check';

export function createChecker(options: {
  urls: RunningInstances['urls'];
  control: Control;
  model: HeldModel;
}): Checker {
  const { urls, control, model } = options;
  const a = createGateway(urls.a);
  let registered: Promise<void> | null = null;
  const save = (enabled: boolean) => saveModel(urls.a, model.baseUrl, enabled);
  const useModel = async (): Promise<string> => {
    registered ??= save(true);
    await registered;
    return MODEL_NAME;
  };
  return {
    a,
    b: createGateway(urls.b),
    front: createGateway(urls.front),
    control,
    model,
    useModel,
    async forgetModel() {
      if (registered !== null) await save(false);
    },
    async startRun(at) {
      const model_name = await useModel();
      const signal = within();
      const threadId = await at.createThread(signal);
      const body: JsonObject = {
        assistant_id: 'lead_agent',
        input: { messages: [{ role: 'user', content: 'Say your words.' }] },
        context: { model_name },
        stream_mode: STREAM_MODES,
        on_disconnect: 'continue',
      };
      const response = await at.startRun(threadId, body, { key: randomUUID(), signal });
      const runId = /\/runs\/([^/?]+)/.exec(response.headers.get('content-location') ?? '')?.[1];
      if (runId === undefined) throw new AppError('bad_request', 'the answer does not say which run was started');
      return { threadId, runId, response };
    },
  };
}

/** The catalogue keeps a record of an earlier check: it is changed, not made again. */
async function saveModel(url: string, base_url: string, enabled: boolean): Promise<void> {
  const { models } = asObject(await readJson(`${url}/api/managed-models`));
  const known = asObjects(models).find(({ name, source }) => name === MODEL_NAME && source === 'managed');
  const config = { name: MODEL_NAME, model: 'words', base_url, enabled };
  await readJson(`${url}/api/managed-models`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ config, expected_revision: known === undefined ? null : asText(known.revision) }),
  });
}

export function within(limitMs = LIMIT_MS): AbortSignal {
  return AbortSignal.timeout(limitMs);
}

export async function readJson(url: string, init: RequestInit = {}): Promise<JsonValue> {
  const response = await fetch(url, { signal: within(), ...init });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as JsonValue;
  throw new AppError('unavailable', `${new URL(url).pathname} answered ${response.status}: ${text.slice(0, 300)}`);
}

/** Reads frames until one is the last that is wanted, and closes the connection. Throws where the stream ends before. */
export async function readUntil(
  response: Response,
  isLast: (frame: StreamFrame, frames: readonly StreamFrame[]) => boolean,
): Promise<StreamFrame[]> {
  const frames: StreamFrame[] = [];
  if (response.body === null) throw new AppError('unavailable', 'the stream is empty');
  for await (const frame of readFrames(response.body)) {
    frames.push(frame);
    if (isLast(frame, frames)) return frames;
    if (frame.event === 'error') throw new AppError('unavailable', `the run failed: ${JSON.stringify(frame.data)}`);
  }
  throw new AppError('unavailable', `the stream broke off after ${frames.length} frames`);
}

export const isEnd = ({ event }: StreamFrame): boolean => event === 'end';

/** What the model has said so far. */
export function textOf(frames: readonly StreamFrame[]): string {
  return frames
    .filter(({ event }) => event === 'messages')
    .map(({ data }) => asObject(Array.isArray(data) ? data[0] : undefined))
    .filter(({ type }) => type === 'AIMessageChunk')
    .map(({ content }) => asText(content))
    .join('');
}

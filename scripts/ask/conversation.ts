/** One question from its start to its summary. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import type { JsonObject } from '../../contracts';
import { isTerminal } from '../../core/run-status';
import type { StopSignals } from '../../workers/stack/stop-signals';
import type { Console } from './console';
import { followRun } from './follow-run';
import { STREAM_MODES, type Gateway, type RunRecord, type UploadedFile } from './gateway';
import { askWhatToDo } from './interruption';
import type { AskOptions } from './options';
import { createRenderer, type Renderer } from './render';

export interface ConversationContext {
  gateway: Gateway;
  console: Console;
  /** Written to as it is, for a question to the person. */
  ask: (text: string) => void;
  input: Readable;
  stops: StopSignals;
  retryDelaysMs?: readonly number[];
}

export const EXIT_CODES = { answered: 0, failed: 1, stopped: 130 } as const;

/** Returns the exit code. */
export async function converse(options: AskOptions, context: ConversationContext): Promise<number> {
  const { gateway, console, stops } = context;
  const since = Date.now();
  const threadId = options.thread ?? (await gateway.createThread(stops.first));
  const uploads = options.files.length === 0 ? [] : await gateway.upload(threadId, options.files, stops.first);
  for (const file of uploads) console.note(`+ ${file.filename} (${file.size} bytes)`);

  const renderer = createRenderer(console);
  const run = await follow(runBody(options, uploads), { ...context, threadId, renderer });
  renderer.finish();
  if (run.outcome === 'left') {
    const name = run.runId === undefined ? 'No run was started.' : `Run ${run.runId} is left running.`;
    console.note(`${name} Thread ${threadId}`);
    return EXIT_CODES.stopped;
  }
  const record = await finalRecord(gateway, { threadId, runId: run.runId, signal: stops.second });
  if (run.outcome === 'incomplete') renderer.showValues(await gateway.readValues(threadId));
  renderer.finish();
  summarise(record, { console, renderer, gateway, threadId, seconds: (Date.now() - since) / 1000 });
  if (record.status === 'success') return EXIT_CODES.answered;
  return record.status === 'interrupted' ? EXIT_CODES.stopped : EXIT_CODES.failed;
}

function runBody(options: AskOptions, uploads: readonly UploadedFile[]): JsonObject {
  const files = uploads.map(({ filename, size, virtual_path: path }) => ({ filename, size, path, status: 'uploaded' }));
  const message = {
    type: 'human',
    content: options.question,
    ...(files.length === 0 ? {} : { additional_kwargs: { files } }),
  };
  return {
    assistant_id: 'lead_agent',
    input: { messages: [message] },
    stream_mode: STREAM_MODES,
    // A lost connection is not a wish to stop.
    on_disconnect: 'continue',
    ...(options.model === undefined ? {} : { context: { model_name: options.model } }),
  };
}

interface FollowContext extends ConversationContext {
  threadId: string;
  renderer: Renderer;
}

/** `incomplete`: the rest of the stream is no longer kept. */
type Followed = { outcome: 'ended' | 'incomplete'; runId: string } | { outcome: 'left'; runId: string | undefined };

async function follow(body: JsonObject, context: FollowContext): Promise<Followed> {
  const { gateway, threadId, renderer, console, stops } = context;
  const leave = new AbortController();
  let runId: string | undefined;
  let incomplete = false;
  const onStop = () => void decide(context, runId, () => leave.abort());
  stops.first.addEventListener('abort', onStop, { once: true });
  if (stops.first.aborted) leave.abort();
  try {
    const frames = followRun(gateway, {
      threadId,
      body,
      signal: leave.signal,
      onRun: (id) => (runId = id),
      onBreak: () => console.note('  The connection broke; trying again.'),
      retryDelaysMs: context.retryDelaysMs,
    });
    for await (const frame of frames) {
      incomplete ||= frame.event === 'gap';
      renderer.show(frame);
    }
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    return { outcome: 'left', runId };
  } finally {
    stops.first.removeEventListener('abort', onStop);
    console.release();
  }
  return { outcome: incomplete ? 'incomplete' : 'ended', runId: runId ?? '' };
}

async function decide(context: FollowContext, runId: string | undefined, leave: () => void): Promise<void> {
  if (runId === undefined) return leave();
  const { console, gateway, threadId, stops, ask, input } = context;
  console.hold();
  const choice = await askWhatToDo({ input, ask, signal: stops.second });
  console.release();
  if (choice === 'leave') return leave();
  console.note('Stopping the run...');
  try {
    await gateway.cancelRun(threadId, runId);
  } catch (error) {
    console.note(`The run could not be stopped: ${(error as Error).message}`);
    leave();
  }
}

/** The record is final when the stream has ended; after a gap the run may still be at work. */
async function finalRecord(
  gateway: Gateway,
  { threadId, runId, signal }: { threadId: string; runId: string; signal: AbortSignal },
): Promise<RunRecord> {
  for (;;) {
    const record = await gateway.readRun(threadId, runId);
    if (isTerminal(record.status)) return record;
    await delay(500, undefined, { signal });
  }
}

function summarise(
  record: RunRecord,
  context: { console: Console; renderer: Renderer; gateway: Gateway; threadId: string; seconds: number },
): void {
  const { console, renderer, gateway, threadId, seconds } = context;
  if (record.status !== 'success') {
    const reason = record.error?.message ? `: ${record.error.message}` : '';
    console.note(`The run ended as "${record.status}"${reason}`);
  }
  for (const path of renderer.artifacts()) {
    const address = path.split('/').map(encodeURIComponent).join('/').replace(/^\//, '');
    console.note(`File: ${path}  ${gateway.url}/api/threads/${encodeURIComponent(threadId)}/artifacts/${address}`);
  }
  const tokens = typeof record.total_tokens === 'number' ? ` · ${record.total_tokens} tokens` : '';
  console.note(`${seconds.toFixed(1)} s${tokens} · thread ${threadId} (go on with --thread ${threadId})`);
}

import type { JsonObject, JsonValue, RunEvent, StreamMode } from '../../contracts';
import { wantsKind } from '../../core/stream-events';
import type { CheckpointRow, RunRow } from '../../db';
import { checkpointFrame } from '../state/checkpoint-view';
import { visibleMessage } from '../state/hygiene';
import { interruptKeys, withKeys, withRaw } from '../state/values';
import { eventId, frameText } from './frame-text';
import { messageChunk } from './message-chunk';

/** What frames show that is not part of the event: states and checkpoints at a watermark. */
export interface FrameSources {
  values(run: Pick<RunRow, 'runId' | 'threadId'>, watermark: number): Promise<string>;
  checkpoint(threadId: string, watermark: number): Promise<CheckpointRow | null>;
  /** The model that a run that has begun uses. */
  modelName(runId: string): Promise<string | null>;
  readonly rendered: RenderedFrames;
}

const HOLDS_STATE: ReadonlySet<RunEvent['kind']> = new Set(['state', 'checkpoint', 'debug']);
const NAMES_MODEL: ReadonlySet<RunEvent['kind']> = new Set(['message', 'text-delta']);

/**
 * Frames by the event that they show: all readers of one feed get the same event objects, and a frame depends on nothing
 * of its reader. The name of the model is fixed before the first event that shows it. Frames with whole states are not
 * kept: they are large, and their texts have a store of their own.
 */
export type RenderedFrames = WeakMap<RunEvent, Promise<string>>;

export type RenderFrame = (event: RunEvent) => Promise<string | null>;

/** Turns a run's events into the frames of the modes that a reader asked for; null where the reader gets nothing. */
export function frameRenderer(row: RunRow, modes: readonly StreamMode[], sources: FrameSources): RenderFrame {
  let run = row;
  return async (event) => {
    if (!wantsKind(modes, event.kind)) return null;
    if (event.kind === 'run-end') return frameText('end', 'null');
    const known = sources.rendered.get(event);
    if (known !== undefined) return known;
    if (run.modelName === null && NAMES_MODEL.has(event.kind)) {
      // The row is as old as the reader: without this, readers that came early would see other frames than later ones.
      run = { ...run, modelName: await sources.modelName(run.runId) };
    }
    const rendering = frameOf(event, run, sources).then(([name, data]) => frameText(name, data, eventId(event)));
    if (!HOLDS_STATE.has(event.kind)) {
      sources.rendered.set(event, rendering);
      rendering.catch(() => sources.rendered.delete(event));
    }
    return rendering;
  };
}

async function frameOf(event: RunEvent, run: RunRow, sources: FrameSources): Promise<[name: string, data: string]> {
  switch (event.kind) {
    case 'run-start':
      return ['metadata', event.payload];
    case 'run-error':
      return ['error', event.payload];
    case 'custom':
      return ['custom', event.payload];
    case 'state':
      return ['values', await valuesData(event, run, sources)];
    case 'text-delta': {
      const delta = payloadOf(event);
      const chunk = JSON.stringify(messageChunk(delta));
      return ['messages', `[${chunk},${JSON.stringify(messageMeta(run, 'model', delta['step']))}]`];
    }
    case 'message': {
      const { node, step } = payloadOf(event);
      return ['messages', `[${messageText(event)},${JSON.stringify(messageMeta(run, nodeName(node), step))}]`];
    }
    case 'update':
      return ['updates', updateData(event)];
    case 'task':
      return ['tasks', taskData(event, payloadOf(event))];
    case 'checkpoint':
      return ['checkpoints', await checkpointData(event, run, sources)];
    case 'debug':
      return ['debug', await debugData(event, run, sources)];
    case 'run-end':
      return ['end', 'null'];
  }
}

function payloadOf(event: RunEvent): JsonObject {
  return JSON.parse(event.payload) as JsonObject;
}

/** A message that was deleted with its thread's history is an empty object: the frame keeps its place. */
function messageText(event: RunEvent): string {
  return event.message === null ? '{}' : visibleMessage(event.message);
}

async function valuesData(event: RunEvent, run: RunRow, sources: FrameSources): Promise<string> {
  const { watermark, interrupts } = payloadOf(event);
  const values = await sources.values(run, Number(watermark));
  return withKeys(values, interruptKeys(Array.isArray(interrupts) ? interrupts : []));
}

function messageMeta(run: RunRow, node: string, step: JsonValue | undefined): JsonObject {
  const { context } = run.options;
  return {
    run_id: run.runId,
    thread_id: run.threadId,
    agent_name: context.agent_name ?? 'default',
    model_name: run.modelName ?? context.model_name ?? null,
    thinking_enabled: context.thinking_enabled ?? null,
    reasoning_effort: context.reasoning_effort ?? null,
    is_plan_mode: context.is_plan_mode ?? false,
    subagent_enabled: context.subagent_enabled ?? false,
    tags: [],
    langgraph_node: node,
    langgraph_step: step ?? null,
    langgraph_triggers: [`branch:to:${node}`],
    langgraph_path: ['__pregel_pull', node],
    langgraph_checkpoint_ns: '',
  };
}

function updateData(event: RunEvent): string {
  const { node, writes } = payloadOf(event);
  const name = nodeName(node);
  if (event.message === null) return JSON.stringify({ [name]: writes ?? null });
  return withRaw({}, name, withRaw(objectOf(writes), 'messages', `[${messageText(event)}]`));
}

/** A task that began, or one that ended, with what it wrote. */
function taskData(event: RunEvent, payload: JsonObject): string {
  const { id = null, name = null, triggers, error = null, interrupts = [] } = payload;
  if (triggers !== undefined) return JSON.stringify({ id, name, input: null, triggers, metadata: {} });
  const result = event.message === null ? '{}' : withRaw({}, 'messages', `[${messageText(event)}]`);
  return withRaw({ id, name, error, interrupts }, 'result', result);
}

async function checkpointData(event: RunEvent, run: RunRow, sources: FrameSources): Promise<string> {
  const watermark = Number(payloadOf(event)['watermark']);
  const row = await sources.checkpoint(run.threadId, watermark);
  const fields = row === null ? {} : checkpointFrame(run.threadId, row);
  return withRaw(fields, 'values', await sources.values(run, watermark));
}

async function debugData(event: RunEvent, run: RunRow, sources: FrameSources): Promise<string> {
  const payload = payloadOf(event);
  const { type = 'task', step = null } = payload;
  const data = type === 'checkpoint' ? await checkpointData(event, run, sources) : taskData(event, payload);
  return withRaw({ step, timestamp: new Date(event.at).toISOString(), type }, 'payload', data);
}

function nodeName(node: JsonValue | undefined): string {
  return typeof node === 'string' ? node : '';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

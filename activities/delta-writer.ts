import type { JsonObject, RunEventInput } from '../contracts';
import { storableJson } from '../core/text';
import type { ReplyDelta, ToolCallChunk } from '../models';

export interface DeltaWriter {
  push(delta: ReplyDelta): void;
  /** Resolves when everything pushed is stored; rejects with the first failure to store. */
  drain(): Promise<void>;
}

interface DeltaWriterOptions {
  append: (events: RunEventInput[]) => Promise<unknown>;
  messageId: string;
  step: number;
  onFailure: (error: unknown) => void;
}

const HIGH_SURROGATE_AT_END = /[\ud800-\udbff]$/;

/**
 * Writes a reply's parts as they come: at once when nothing is under way, else together with the next. So the rate of
 * commits follows the database and not the model, and a reader sees each part as soon as it can.
 */
export function createDeltaWriter({ append, messageId, step, onFailure }: DeltaWriterOptions): DeltaWriter {
  let pending: ReplyDelta | null = null;
  let flight: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;
  const whole = createHalfKeeper();

  function take({ content, toolCallChunks, additionalKwargs }: ReplyDelta): ReplyDelta {
    return {
      content: whole('content', content),
      toolCallChunks: toolCallChunks.map((chunk) => ({
        ...chunk,
        args: chunk.args === null ? null : whole(`call ${chunk.index}`, chunk.args),
      })),
      additionalKwargs: Object.fromEntries(
        Object.entries(additionalKwargs).map(([key, value]) => [
          key,
          typeof value === 'string' ? whole(`field ${key}`, value) : value,
        ]),
      ),
    };
  }

  async function flush(): Promise<void> {
    while (pending !== null && failure === null) {
      const delta = take(pending);
      pending = null;
      try {
        await append([{ kind: 'text-delta', payload: deltaPayload(delta, messageId, step) }]);
      } catch (error) {
        failure = { error };
        onFailure(error);
      }
    }
    flight = null;
  }

  return {
    push(delta) {
      pending = pending === null ? delta : mergeDeltas(pending, delta);
      flight ??= flush();
    },
    async drain() {
      await flight;
      if (failure !== null) throw failure.error;
    },
  };
}

/** Holds back half of a character that the provider split between two parts, for each text that a reply consists of. */
function createHalfKeeper(): (field: string, part: string) => string {
  const halves = new Map<string, string>();
  return (field, part) => {
    const text = (halves.get(field) ?? '') + part;
    const half = HIGH_SURROGATE_AT_END.exec(text)?.[0] ?? '';
    halves.set(field, half);
    return text.slice(0, text.length - half.length);
  };
}

export function mergeDeltas(left: ReplyDelta, right: ReplyDelta): ReplyDelta {
  return {
    content: left.content + right.content,
    toolCallChunks: mergeChunks(left.toolCallChunks, right.toolCallChunks),
    additionalKwargs: mergeKwargs(left.additionalKwargs, right.additionalKwargs),
  };
}

/** Chunks of one call are joined; a chunk that names a call begins it. */
function mergeChunks(left: readonly ToolCallChunk[], right: readonly ToolCallChunk[]): ToolCallChunk[] {
  const merged = left.map((chunk) => ({ ...chunk }));
  for (const chunk of right) {
    const same = merged.find((earlier) => earlier.index === chunk.index);
    if (same === undefined) merged.push({ ...chunk });
    else {
      same.id ??= chunk.id;
      same.name ??= chunk.name;
      same.args = (same.args ?? '') + (chunk.args ?? '');
    }
  }
  return merged;
}

/** Texts that arrive in parts (reasoning) are joined, anything else is replaced. */
function mergeKwargs(left: JsonObject, right: JsonObject): JsonObject {
  const merged: JsonObject = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const earlier = merged[key];
    merged[key] = typeof earlier === 'string' && typeof value === 'string' ? earlier + value : value;
  }
  return merged;
}

export function deltaPayload(delta: ReplyDelta, messageId: string, step: number): JsonObject {
  return storableJson({
    id: messageId,
    step,
    content: delta.content,
    additional_kwargs: delta.additionalKwargs,
    tool_call_chunks: delta.toolCallChunks.map(({ name, args, id, index }) => ({
      name,
      args,
      id,
      index,
      type: 'tool_call_chunk',
    })),
  });
}

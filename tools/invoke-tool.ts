/** Runs one tool call from raw arguments to a result that may be stored. */
import { AppError, isAppError, type JsonObject, type JsonValue } from '../contracts';
import { withinBudget } from './output-budget';
import { isRunEnded } from './run-ended';
import { toolMeta } from './tool-meta';
import type { Tool, ToolContext, ToolOutcome, WritePlan } from './tool';
import { validateArguments } from './validate-arguments';

const LONGEST_DETAIL = 500;
const LARGEST_ARTIFACT_CHARS = 1_000_000;
/** How long a tool that was told to stop may take to clean up. */
const CLEAN_UP_MS = 5_000;
const RECOVERY_HINT = 'Go on with what you have, or try another tool or other arguments.';

class ToolTimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * The result of a call. It never throws, except where the run is over: then it throws the reason of the signal, or the
 * error that says so, and there is no result.
 */
export async function invokeTool(tool: Tool, rawArguments: JsonObject, context: ToolContext): Promise<ToolOutcome> {
  context.signal.throwIfAborted();
  const validated = validateArguments(tool, rawArguments);
  if (!validated.ok) return finished(tool.name, { content: validated.message, status: 'error' }, context);
  try {
    const outcome = await execute(tool, validated.args, context);
    return await finished(tool.name, outcome, context);
  } catch (error) {
    context.signal.throwIfAborted();
    if (isRunEnded(error)) throw error;
    return finished(tool.name, { content: errorText(tool.name, error), status: 'error' }, context, error);
  }
}

/** What a `file-write` call would do, for the ledger; null where nothing would change or the call would be refused. */
export async function planToolWrite(
  tool: Tool,
  rawArguments: JsonObject,
  context: ToolContext,
): Promise<WritePlan | null> {
  if (!tool.planWrite) return null;
  const validated = validateArguments(tool, rawArguments);
  return validated.ok ? tool.planWrite(validated.args, context) : null;
}

/** A result that no tool gave, described for policies and user interfaces like any other. */
export function withToolMeta(name: string, outcome: ToolOutcome): ToolOutcome {
  return withMeta(name, outcome, undefined);
}

/** The result for a name that no tool of the run has. */
export function unknownToolOutcome(name: string, toolNames: readonly string[]): ToolOutcome {
  const content = `Error: ${name} is not a valid tool, try one of [${toolNames.join(', ')}].`;
  return withToolMeta(name, { content, status: 'error' });
}

async function execute(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const limitMs = tool.timeoutMs(context.config);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(timeoutError(limitMs)), limitMs);
  const signal = AbortSignal.any([context.signal, limit.signal]);
  try {
    const call = tool.execute(args, { ...context, signal });
    return await Promise.race([call, stopped(signal)]);
  } catch (error) {
    if (limit.signal.aborted) throw limit.signal.reason;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects once a tool had its time to clean up after the signal: one that ignores the signal must not hold the run. */
function stopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => void setTimeout(() => reject(asError(signal.reason)), CLEAN_UP_MS).unref();
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

async function finished(
  name: string,
  outcome: ToolOutcome,
  context: ToolContext,
  thrown?: unknown,
): Promise<ToolOutcome> {
  // What happened is told by the whole text, so this comes before the text is cut.
  const described = withMeta(name, outcome, thrown);
  const content = await withinBudget(name, storable(outcome.content), context);
  return { ...described, content };
}

function withMeta(name: string, outcome: ToolOutcome, thrown: unknown): ToolOutcome {
  const { artifact, additionalKwargs } = outcome;
  return {
    ...outcome,
    ...(artifact === undefined ? {} : { artifact: boundedArtifact(artifact) }),
    additionalKwargs: {
      ...(storableValue(additionalKwargs ?? {}) as JsonObject),
      deerflow_tool_meta: toolMeta(name, outcome, thrown),
    },
  };
}

function errorText(name: string, error: unknown): string {
  // Errors of the catalogue are worded for the model; of others nobody knows what they say.
  if (isAppError(error) && error.code !== 'internal') return `Error: ${error.message}`;
  const isError = typeof error === 'object' && error !== null && 'message' in error;
  const className = isError && 'name' in error ? String(error.name) : 'Error';
  const detail = withoutHostPaths(isError ? String(error.message) : String(error)).slice(0, LONGEST_DETAIL);
  return `Error: Tool '${name}' failed with ${className}: ${detail}. ${RECOVERY_HINT}`;
}

/** Paths below `/mnt` are the model's own; all others are this machine's. */
function withoutHostPaths(text: string): string {
  return text.replace(/(?<![\w/.:-])\/(?!mnt\/)[^\s/'"`:;,()]+\/[^\s'"`:;,()]*/g, '[path]');
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new AppError('run_cancelled', 'The call was stopped', { cause: reason });
}

function timeoutError(limitMs: number): ToolTimeoutError {
  return new ToolTimeoutError(`no result within ${limitMs / 1_000} seconds`);
}

function boundedArtifact(artifact: JsonValue): JsonValue {
  return JSON.stringify(artifact).length > LARGEST_ARTIFACT_CHARS ? null : storableValue(artifact);
}

/** Text that every store and every JSON reader takes: no NUL, no halves of characters. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

function storableValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), storableValue(item)]));
}

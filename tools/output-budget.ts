/** Keeps long results out of the conversation: they go to a file, and the model gets a preview. */
import { createHash } from 'node:crypto';
import type { Config } from '../contracts/schemas/config';
import { OUTPUTS_ROOT } from '../sandbox';
import { previewOf } from './output-preview';
import { isRunEnded } from './run-ended';
import { joinParts } from './text-limits';
import type { ToolContext } from './tool';

/** No result is longer than this, whatever is configured: messages are stored and sent as a whole. */
export const HARD_CEILING_CHARS = 200_000;

const LOG_TOOLS = new Set(['bash', 'bash_tool', 'web_fetch']);

export async function withinBudget(toolName: string, content: string, context: ToolContext): Promise<string> {
  const limits = context.config.tool_output;
  const isOverBudget = content.length > threshold(toolName, limits);
  const kept = isOverBudget ? await externalised(toolName, content, context) : content;
  if (kept.length <= HARD_CEILING_CHARS) return kept;
  return shortened(kept, HARD_CEILING_CHARS / 2, HARD_CEILING_CHARS / 4);
}

function threshold(toolName: string, limits: Config['tool_output']): number {
  if (!limits.enabled || limits.exempt_tools.includes(toolName)) return Infinity;
  const chars = limits.tool_overrides[toolName] ?? limits.externalize_min_chars;
  return chars === 0 ? Infinity : chars;
}

async function externalised(toolName: string, content: string, context: ToolContext): Promise<string> {
  const limits = context.config.tool_output;
  const path = `${OUTPUTS_ROOT}/${limits.storage_subdir}/${fileName(toolName, context)}`;
  try {
    const sandbox = await context.sandbox();
    await sandbox.writeFile(path, content, { append: false, signal: context.signal });
  } catch (error) {
    context.signal.throwIfAborted();
    if (isRunEnded(error)) throw error;
    // Without a file the result is cut: a part of it is worth more than an error.
    if (content.length <= limits.fallback_max_chars) return content;
    return shortened(content, limits.fallback_head_chars, limits.fallback_tail_chars);
  }
  return previewText(toolName, content, path, context);
}

/** The same call always writes the same file, so that repeating it after a crash leaves no second one. */
function fileName(toolName: string, { runId, toolCallId }: ToolContext): string {
  const digest = createHash('sha256').update(`${runId}:${toolCallId}`).digest('hex').slice(0, 12);
  const safeName = toolName.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return `${safeName}-${digest}.${LOG_TOOLS.has(toolName) ? 'log' : 'txt'}`;
}

function previewText(toolName: string, content: string, path: string, context: ToolContext): string {
  const { preview_head_chars: head, preview_tail_chars: tail } = context.config.tool_output;
  const preview = previewOf(content);
  const sample = content.length > head + tail ? shortened(content, head, tail) : content;
  const section = (title: string, items: string[]) =>
    items.length === 0 ? [] : ['', `${title}:`, ...items.map((item) => `- ${item}`)];
  return [
    `[Full ${toolName} output saved to ${path} (${content.length} chars, ~${Math.floor(content.length / 4)} tokens).]`,
    `[Preview kind: ${preview.kind}]`,
    `Title: ${preview.title}`,
    ...section('Structure', preview.structure),
    ...section('Notable', preview.notable),
    '',
    'Raw sample:',
    sample,
    '',
    `To read the rest, call read_file on ${path} with start_line and end_line, or grep on that path.`,
  ].join('\n');
}

function shortened(text: string, head: number, tail: number): string {
  const omitted = Math.max(0, text.length - head - tail);
  return omitted === 0 ? text : joinParts(text, head, tail, `\n\n... [${omitted} characters omitted] ...\n\n`);
}

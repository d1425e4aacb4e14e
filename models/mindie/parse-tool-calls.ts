/** Finds the tool calls that a model of MindIE writes into its text. */
import type { JsonObject } from '../../contracts';
import { unescapeMarkup } from './entities';
import { parseValue } from './parse-value';

export interface ParsedCall {
  name: string;
  args: JsonObject;
}

export interface ParsedText {
  /** The text without the calls. */
  text: string;
  calls: ParsedCall[];
}

interface Block {
  from: number;
  to: number;
  inner: string;
}

const BEGIN = '<tool_call>';
const MARK = /<\/?tool_call>/g;
const FUNCTION = /<function=([^>]+)>/;
const PARAMETER = /<parameter=([^>]+)>([\s\S]*?)<\/parameter>/g;

/** A block that names no function is no call and stays in the text. */
export function parseToolCalls(text: string): ParsedText {
  const calls: ParsedCall[] = [];
  let rest = '';
  let end = 0;
  for (const { from, to, inner } of topBlocks(text)) {
    const call = parseCall(inner);
    if (call === null) continue;
    calls.push(call);
    rest += text.slice(end, from);
    end = to;
  }
  return { text: rest + text.slice(end), calls };
}

/** A block within a block is another call, or the text of one: its parameters are not those of the outer call. */
function parseCall(inner: string): ParsedCall | null {
  const own = withoutBlocks(inner);
  const [, name] = FUNCTION.exec(own) ?? [];
  if (name === undefined || name.trim() === '') return null;
  const args = [...own.matchAll(PARAMETER)].map(([, key = '', value = '']) => [
    unescapeMarkup(key).trim(),
    parseValue(unescapeMarkup(value)),
  ]);
  return { name: unescapeMarkup(name).trim(), args: Object.fromEntries(args) as JsonObject };
}

function withoutBlocks(text: string): string {
  let rest = '';
  let end = 0;
  for (const { from, to } of topBlocks(text)) {
    rest += text.slice(end, from);
    end = to;
  }
  return rest + text.slice(end);
}

/** Blocks that are in no other block and are closed. */
function topBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let depth = 0;
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(MARK)) {
    if (mark === BEGIN) {
      if (depth === 0) from = index;
      depth += 1;
    } else if (depth > 0) {
      depth -= 1;
      if (depth === 0) {
        const to = index + mark.length;
        blocks.push({ from, to, inner: text.slice(from + BEGIN.length, index) });
      }
    }
  }
  return blocks;
}

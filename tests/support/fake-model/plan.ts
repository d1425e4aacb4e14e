/**
 * Scripts inside the user's message, for load tests: `PLAN:tools=N tool=ls say=N ttft=MS tokens=N gap=MS rate=N status=…
 * hang=1 think=1 stamp=1`. The reply follows from the request alone: N turns with one tool call each, after as many words
 * as `say` says, then `done w1 w2 …`, after `ttft` milliseconds (or `delay`), with a `gap` before each word or so many of
 * them a second. The tool `append` adds a line with the plan's `tag` and the turn to a file, and then takes `hold`
 * seconds.
 */
import { wireText } from '../../../models/demo/completion-wire';
import type { WireMessage, WireRequest } from '../../../models/demo/completion-wire';
import { calls, fail, hang, raw, say } from './steps';
import type { ScriptedCall, Step } from './steps';

const PLAN = /(?:^|\n)PLAN:([^\n]*)/;
const USAGE = [10, 5] as const;
export const APPENDED = 'appended.txt';
const FOR_EVER_MS = 24 * 3600 * 1000;
let fileCount = 0;

export interface Plan {
  options: ReadonlyMap<string, string | undefined>;
  /** The turn that the request asks for, from 1. */
  turn: number;
  /** The replies since the plan was given. */
  earlier: readonly WireMessage[];
}

/** Null where the conversation holds no plan. */
export function planOf(request: WireRequest): Plan | null {
  const position = planPosition(request.messages);
  const text = PLAN.exec(wireText(request.messages[position]?.content))?.[1];
  if (text === undefined) return null;
  const options = new Map(
    text
      .trim()
      .split(/\s+/)
      .map((part) => part.split('=', 2) as [string, string | undefined]),
  );
  const earlier = request.messages.slice(position + 1).filter(({ role }) => role === 'assistant');
  const turn = earlier.filter(({ tool_calls: made }) => (made?.length ?? 0) > 0).length + 1;
  return { options, turn, earlier };
}

/** Null where the conversation holds no plan. */
export function planStep(request: WireRequest): Step | null {
  const plan = planOf(request);
  if (plan === null) return null;
  const { options } = plan;
  const number = (name: string, fallback: number) => Number(options.get(name) ?? fallback) || 0;
  const step = answer(request, plan, number);
  const delay = options.get('hang') === '1' ? FOR_EVER_MS : number('ttft', number('delay', 0));
  return delay > 0 ? hang(delay, step) : step;
}

function answer(
  request: WireRequest,
  { options, turn, earlier }: Plan,
  number: (name: string, fallback: number) => number,
): Step {
  const status = number('status', 0);
  if (status > 0) return fail(status);
  const tool = options.get('tool') ?? 'ls';
  if (turn <= number('tools', 0) && (request.tools?.length ?? 0) > 0) {
    if (tool === 'badargs')
      return raw({ toolCalls: [{ id: `bad_${turn}`, name: 'ls', arguments: '{"path": ' }], usage: USAGE });
    const spoken = say(wordsOf(number('say', 0)).join(' '), { delayMs: number('gap', 0) });
    const { content, pieces, delayMs } = spoken;
    return { ...calls(toolCalls(tool, { options, turn, earlier }), { usage: USAGE }), content, pieces, delayMs };
  }
  // A stamped word carries the time of its sending: `w7@1700000000000`.
  const stamped = number('stamp', 0) === 1;
  const words = wordsOf(number('tokens', 8), stamped ? '@now' : '');
  const reasoning = number('think', 0) === 1 ? 'thinking about it' : undefined;
  const rate = number('rate', 0);
  return say(['done', ...words].join(' '), {
    usage: USAGE,
    delayMs: number('gap', 0),
    ...(rate > 0 ? { perSecond: rate } : {}),
    stamped,
    reasoning,
  });
}

/** The last message of the user; notes that the server adds after it begin with a tag or a bracket. */
function planPosition(messages: readonly WireMessage[]): number {
  for (let position = messages.length - 1; position >= 0; position -= 1) {
    const message = messages[position];
    if (message?.role !== 'user') continue;
    const text = wireText(message.content).trimStart();
    if (PLAN.test(text) || !/^[<[]/.test(text)) return position;
  }
  return -1;
}

function wordsOf(count: number, mark = ''): string[] {
  return Array.from({ length: count }, (_, index) => `w${index + 1}${mark}`);
}

function toolCalls(tool: string, { options, turn, earlier }: Plan): ScriptedCall[] {
  const description = `turn ${turn}`;
  const ls = (path: string): ScriptedCall => ({ tool: 'ls', args: { description, path } });
  switch (tool) {
    case 'read':
      return [{ tool: 'read_file', args: { description, path: '/mnt/user-data/uploads/plan.txt' } }];
    case 'write':
      return [writeCall('/mnt/user-data/workspace', description)];
    case 'bash':
      return [{ tool: 'bash', args: { description, command: `echo turn ${turn}` } }];
    case 'append':
      return [{ tool: 'bash', args: { description, command: appendCommand(options, turn) } }];
    case 'present':
      return turn % 2 === 1 ? [writeCall('/mnt/user-data/outputs', description)] : [presentCall(earlier)];
    case 'two':
      return [ls('/mnt/user-data/workspace'), ls('/mnt/user-data/outputs')];
    case 'ask':
      return [{ tool: 'ask_clarification', args: { question: 'Which one?', clarification_type: 'missing_info' } }];
    case 'bad':
      return [{ tool: 'no_such_tool', args: {} }];
    default:
      return [ls('/mnt/user-data/workspace')];
  }
}

/** What it leaves is in `APPENDED` in the workspace: a line for each time that it was run. */
function appendCommand(options: Plan['options'], turn: number): string {
  const line = `${options.get('tag') ?? 'untagged'}-${turn}`;
  return `echo ${line} >> /mnt/user-data/workspace/${APPENDED} && sleep ${options.get('hold') ?? 0}`;
}

function writeCall(folder: string, description: string): ScriptedCall {
  fileCount += 1;
  const path = `${folder}/plan-${process.pid}-${fileCount}.txt`;
  return { tool: 'write_file', args: { description, path, content: `written in ${description}\n` } };
}

function presentCall(earlier: readonly WireMessage[]): ScriptedCall {
  const written = earlier
    .flatMap(({ tool_calls: made = [] }) => made)
    .findLast((made) => made.function?.name === 'write_file');
  const args: { path?: unknown } = JSON.parse(String(written?.function?.arguments ?? '{}'));
  return { tool: 'present_files', args: { filepaths: [String(args.path ?? '/mnt/user-data/outputs/none')] } };
}

/**
 * What a run of the fault suite does, as words in the message of its user: `key-… plan: bash write ls; tokens=30 gap=20`.
 * The reply to a conversation follows from the conversation alone, however often it is asked for.
 */
import type { WireMessage, WireRequest } from '../../../models/demo/completion-wire';
import { wireText } from '../../../models/demo/completion-wire';
import type { ScriptedCall, Step } from '../../support/fake-model';
import { calls, hang, say } from '../../support/fake-model';
import { RUN_KEY } from '../checker/evidence';

/** One word per turn that calls tools; then comes the answer. */
export const TURN_KINDS = ['bash', 'slow', 'write', 'ls', 'pair', 'many', 'mixed'] as const;
export type TurnKind = (typeof TURN_KINDS)[number];

export interface Plan {
  key: string;
  turns: TurnKind[];
  /** Words of the answer. */
  tokens: number;
  /** Milliseconds between two of them. */
  gap: number;
  /** Milliseconds before each reply begins. */
  delay: number;
}

export const WORKSPACE = '/mnt/user-data/workspace';
export const EFFECTS_FILE = 'effects.txt';
const SLOW_SECONDS = 3;

/** More than a worker is handed with the answer to a workflow task: the rest come over its polls. */
const MANY_CALLS = 6;
const FORM = /plan:([a-z ]*); tokens=(\d+) gap=(\d+) delay=(\d+)/;

export function planText({ key, turns, tokens, gap, delay }: Plan): string {
  return `${key} plan: ${turns.join(' ')}; tokens=${tokens} gap=${gap} delay=${delay}`;
}

/** Names of the files with side effects of a plan, below its thread's workspace. */
export function effectFilesOf(plan: Plan): string[] {
  const written = plan.turns.flatMap((kind, index) =>
    kind === 'write' || kind === 'mixed' ? [`${tokenOf(plan.key, index + 1, 0)}.txt`] : [],
  );
  return [EFFECTS_FILE, ...written];
}

export interface Asked {
  key: string;
  turn: number;
  unknownOutcomes: number;
  step: Step;
}

/** Null where the conversation holds no plan. */
export function answerTo({ messages }: WireRequest): Asked | null {
  const position = messages.findLastIndex(({ role, content }) => role === 'user' && RUN_KEY.test(wireText(content)));
  const text = wireText(messages[position]?.content);
  const key = RUN_KEY.exec(text)?.[0];
  const [, words, ...numbers] = FORM.exec(text) ?? [];
  if (key === undefined || words === undefined) return null;
  const [tokens = 0, gap = 0, delay = 0] = numbers.map(Number);
  const turns = words
    .trim()
    .split(/\s+/)
    .filter((word): word is TurnKind => TURN_KINDS.some((kind) => kind === word));
  const turn = messages.slice(position + 1).filter(({ role }) => role === 'assistant').length + 1;
  const reply = replyOf({ key, turns, tokens, gap, delay }, turn);
  const step = delay > 0 ? hang(delay, reply) : reply;
  return { key, turn, unknownOutcomes: messages.filter(saysUnknown).length, step };
}

function saysUnknown({ role, content }: WireMessage): boolean {
  return role === 'tool' && wireText(content).includes('outcome is unknown');
}

function replyOf({ key, turns, tokens, gap }: Plan, turn: number): Step {
  const usage = [100 + turn, 10 + turn] as const;
  const kind = turns[turn - 1];
  if (kind !== undefined) return calls(callsOf(kind, key, turn), { usage });
  const words = Array.from({ length: tokens }, (_, index) => `word${index + 1}`);
  return say(['The answer of', key, ...words].join(' '), { usage, delayMs: gap });
}

function tokenOf(key: string, turn: number, place: number): string {
  return `fx-${key.replace('key-', '')}-${turn}-${place}`;
}

function callsOf(kind: TurnKind, key: string, turn: number): ScriptedCall[] {
  const call = (place: number, tool: string, args: object): ScriptedCall => ({
    tool,
    id: `call_${key.replace('key-', '')}_${turn}_${place}`,
    args: { description: `turn ${turn}`, ...args },
  });
  const effects = `${WORKSPACE}/${EFFECTS_FILE}`;
  const bash = (place: number): ScriptedCall =>
    call(place, 'bash', { command: `echo "${tokenOf(key, turn, place)} done" >> ${effects}` });
  const slow = (place: number): ScriptedCall => {
    const token = tokenOf(key, turn, place);
    const command = `echo "${token} begun" >> ${effects}; sleep ${SLOW_SECONDS}; echo "${token} ended" >> ${effects}`;
    return call(place, 'bash', { command });
  };
  const write = (place: number): ScriptedCall => {
    const token = tokenOf(key, turn, place);
    return call(place, 'write_file', { path: `${WORKSPACE}/${token}.txt`, content: `${token} done\n`, append: true });
  };
  const list = (place: number): ScriptedCall => call(place, 'ls', { path: WORKSPACE });
  switch (kind) {
    case 'bash':
      return [bash(0)];
    case 'slow':
      return [slow(0)];
    case 'write':
      return [write(0)];
    case 'ls':
      return [list(0)];
    case 'pair':
      return [bash(0), bash(1)];
    case 'many':
      return Array.from({ length: MANY_CALLS }, (_, place) => bash(place));
    case 'mixed':
      return [write(0), bash(1), list(2)];
  }
}

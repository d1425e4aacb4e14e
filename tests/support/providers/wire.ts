/** How a provider speaks: what the test suites need of each wire format. One file per wire. */
import type { ProviderAnswer } from './scripted-server';

/** The name of the model, as requests and answers have it. */
export const SCRIPTED_MODEL = 'gemini-2.5-flash';

export interface ScriptedCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export interface ScriptedReply {
  thinking?: { text: string; signature: string };
  text?: string;
  calls?: readonly ScriptedCall[];
  /** Into how many pieces the arguments of calls are cut, where the wire has pieces. */
  pieces?: number;
  /** Whether the answer stops in the middle of its last call, where the wire has pieces. */
  half?: boolean;
  /** Null: the provider does not count. */
  usage?: { input: number; output: number } | null;
  /** Null: the answer stops before its end. */
  finish?: 'stop' | 'tools' | 'length' | 'safety' | null;
}

export interface Wire {
  /** What the provider would refuse of a request. */
  faults?: (body: Record<string, unknown>) => string[];
  reply(reply: ScriptedReply): ProviderAnswer;
  error(status: number, type: string, message: string, headers?: Record<string, string>): ProviderAnswer;
  /** An error when a part of the reply has gone out already, with status 200. */
  breakdown(text: string, type: string, message: string): ProviderAnswer;
  /** Signs of life without any content, until the connection is closed. */
  idle(): ProviderAnswer;
}

/** A text in so many pieces; without the last one where it is to be half. */
export function cutUp(text: string, pieces: number, half = false): string[] {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  const all = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
  return half ? all.slice(0, -1) : all;
}

export function words(text: string): string[] {
  return text.split(/(?<= )/).filter((part) => part !== '');
}

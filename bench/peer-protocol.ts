/**
 * How the benchmarks talk to a peer: a program of its own, which hears one JSON object per line on its standard input
 * and answers with one per line on its standard output. Its first line says that it is ready. Requests overlap, so
 * answers carry the number of their request. A peer ends when its standard input does.
 */

/** What a peer is told when it starts, as its only argument, in JSON. */
export interface PeerSetup {
  /** A database of its own on the server that the product uses. */
  databaseUrl: string;
  temporalAddress: string;
  /** Of the referee. */
  baseUrl: string;
  /** A folder of its own, which exists. */
  folder: string;
  /** What the product sent with its own requests: peers send the same, so that all requests weigh the same. */
  system: string;
  tools: readonly PeerTool[];
}

/** A tool as it goes to the model. Peers execute `ls` alone. */
export interface PeerTool {
  type: 'function';
  function: { name: string; description?: string; parameters?: Record<string, unknown> };
}

export interface PeerRequest {
  number: number;
  command: string;
  arguments: unknown;
}

export type PeerAnswer = { ready: true } | { number: number; result: unknown } | { number: number; error: string };

/** The command `run` of every peer: one run of the agent, from its start to its end. */
export interface RunArguments {
  /** The question of the user: the plan that the referee follows. */
  question: string;
}

export interface RunResult {
  milliseconds: number;
  modelCalls: number;
  toolCalls: number;
  /** The text of the last reply. */
  answer: string;
}

/** Who takes part in a load: the product, or a peer, each with its own way to begin a run and its own processes. */
import { Agent } from 'node:http';
import type { Peer } from '../peer';
import type { RunResult } from '../peer-protocol';
import type { Servers } from '../servers';
import type { System } from '../system';
import { runAgent } from './agent-run';
import type { AgentRun, ApiTarget } from './agent-run';
import { expectSuccess } from './finished-runs';
import type { Work } from './work';

/** What the processes are for; a server is all in one. */
export type Part = 'worker' | 'api' | 'temporal' | 'postgres' | 'server';

export interface Contender {
  processes(): Partial<Record<Part, readonly number[]>>;
  /** One run from its creation to its end, in milliseconds. Throws where the run did not do its work. */
  run(work: Work, signal: AbortSignal): Promise<number>;
  /** Throws where a run since the last check is not recorded as a success. */
  check(signal: AbortSignal): Promise<void>;
}

export function apiTarget(url: string, prefix: string): ApiTarget {
  return { url, prefix, agent: new Agent({ keepAlive: true }) };
}

export function productContender(system: System): Contender {
  return { processes: () => system.pids(), ...overHttp(apiTarget(system.url, '/api')) };
}

export async function langGraphTarget(peer: Peer): Promise<ApiTarget> {
  return apiTarget(String(await peer.request('address')), '');
}

export async function langGraphContender(peer: Peer): Promise<Contender> {
  return { processes: () => ({ server: [peer.pid] }), ...overHttp(await langGraphTarget(peer)) };
}

/** The program of the peer is the client of its workflows, too. */
export function temporalContender(peer: Peer, servers: Servers): Contender {
  return {
    processes: () => ({ worker: [peer.pid], temporal: [servers.temporalPid] }),
    async run({ turns, question }) {
      const result = await peer.run({ question });
      expectCalls(result, turns);
      return result.milliseconds;
    },
    // What the peer tells after each run is what its workflow gave back.
    check: async () => undefined,
  };
}

function overHttp(target: ApiTarget): Pick<Contender, 'run' | 'check'> {
  let unchecked: AgentRun[] = [];
  return {
    async run(work, signal) {
      const run = await runAgent(target, { work, signal });
      unchecked.push(run);
      return run.endMs;
    },
    async check(signal) {
      const runs = unchecked;
      unchecked = [];
      await expectSuccess(target, runs, signal);
    },
  };
}

function expectCalls({ modelCalls, toolCalls }: RunResult, turns: number): void {
  if (modelCalls === turns && toolCalls === turns - 1) return;
  throw new Error(`a run ended with ${modelCalls} model calls and ${toolCalls} tool calls of ${turns} turns`);
}

/**
 * The model that everybody is measured with: it answers at once, or at the pace that the plan in the user's message
 * asks for (`PLAN:tools=49 tool=ls tokens=8 ttft=200 rate=50 tag=name`, see `tests/support/fake-model/plan.ts`).
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { PeerTool } from './peer-protocol';

export interface RefereeCounts {
  requests: number;
  /** How often each turn of the plan with that tag was asked for. More than once: a repeated model call. */
  calls: Record<string, number[]>;
  /** When each turn of the plan with that tag was asked for, in milliseconds since the epoch. */
  askedAt: Record<string, number[][]>;
  /** What the first request that offered tools carried: the product's, which is started before its peers. */
  first: ProductRequest | null;
  /** Requests that a strict provider refuses, and requests without a plan. */
  complaints: string[];
}

export interface ProductRequest {
  system: string;
  tools: readonly PeerTool[];
}

export interface Referee {
  readonly baseUrl: string;
  readonly pid: number;
  counts(): Promise<RefereeCounts>;
  /** System text and tools of the product's requests, for peers to send the same. */
  productRequest(): Promise<ProductRequest>;
  close(): Promise<void>;
}

export async function startReferee(): Promise<Referee> {
  const child = spawn(process.execPath, [join(__dirname, 'referee-process.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines = createInterface(child.stdout);
  const answers: Array<(line: string | null) => void> = [];
  const nextLine = (): Promise<string> =>
    new Promise((resolve, reject) => {
      answers.push((line) => (line === null ? reject(new Error('The referee ended.')) : resolve(line)));
    });
  lines.on('line', (line) => answers.shift()?.(line));
  void exited.then(() => answers.splice(0).forEach((answer) => answer(null)));

  const { baseUrl } = JSON.parse(await nextLine()) as { baseUrl: string };
  const counts = async (): Promise<RefereeCounts> => {
    child.stdin.write('counts\n');
    return JSON.parse(await nextLine()) as RefereeCounts;
  };
  return {
    baseUrl,
    pid: child.pid ?? 0,
    counts,
    async productRequest() {
      const { first } = await counts();
      if (first === null) throw new Error('Start the product before its peers: they send what it sends.');
      return first;
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}

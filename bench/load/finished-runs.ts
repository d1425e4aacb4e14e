/** What the APIs say about runs afterwards: a stream may end well and its run not. */
import type { AgentRun, ApiTarget } from './agent-run';

const CLIENTS = 4;
const ANSWER_LIMIT_MS = 30_000;

/** Throws where a run is not recorded as a success. */
export async function expectSuccess(target: ApiTarget, runs: readonly AgentRun[], signal: AbortSignal): Promise<void> {
  const left = [...runs];
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let run = left.pop(); run !== undefined; run = left.pop()) await expectOne(target, run, signal);
    }),
  );
}

async function expectOne(target: ApiTarget, run: AgentRun, signal: AbortSignal): Promise<void> {
  const path = `${target.prefix}/threads/${run.threadId}/runs/${run.runId}`;
  const response = await fetch(target.url + path, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]),
  });
  const { status } = (await response.json()) as { status?: string };
  if (status !== 'success') throw new Error(`run ${run.runId} is recorded as ${status ?? response.status}`);
}

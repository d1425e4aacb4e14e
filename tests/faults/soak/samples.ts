/** What is measured while the soak runs: memory and files of every process, connections of every application. */
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '../cluster/cluster';
import { processTree } from '../cluster/process-tree';

export interface Sample {
  /** Milliseconds since the epoch. */
  at: number;
  /** `worker`, `api`, `postgres`, `temporal`. */
  kind: string;
  process: string;
  /** Milliseconds since the process was first seen. */
  ageMs: number;
  /** Memory that is its own, and its share of what it has in common with others. */
  megabytes: number;
  files: number;
}

export interface ConnectionSample {
  at: number;
  application: string;
  count: number;
}

export interface Sampler {
  samples: Sample[];
  connections: ConnectionSample[];
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;

export function startSampler(cluster: Cluster): Sampler {
  const stopped = new AbortController();
  const born = new Map<number, number>();
  const sampler: Omit<Sampler, 'stop'> = { samples: [], connections: [] };
  // Apart from each other: a server that is frozen answers late.
  const again = async (work: () => Promise<void>): Promise<void> => {
    while (!stopped.signal.aborted) {
      await work();
      await delay(EVERY_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  };
  const finished = Promise.all([
    again(() => sampleProcesses(cluster, born, sampler.samples)),
    again(() => sampleConnections(cluster, sampler.connections)),
  ]);
  return {
    ...sampler,
    async stop() {
      stopped.abort();
      await finished;
    },
  };
}

async function sampleProcesses(cluster: Cluster, born: Map<number, number>, samples: Sample[]): Promise<void> {
  const { postgres, temporal } = cluster.servers;
  const measured = [
    ...cluster.slots.map(({ kind, name, pid }) => ({ kind, process: name, pids: [pid] })),
    { kind: 'postgres', process: 'postgres', pids: postgres.pid === 0 ? [0] : processTree(postgres.pid) },
    { kind: 'temporal', process: 'temporal', pids: [temporal.pid] },
  ];
  await Promise.all(
    measured.map(async ({ kind, process, pids }) => {
      const [pid = 0] = pids;
      if (pid === 0) return;
      const at = Date.now();
      if (!born.has(pid)) born.set(pid, at);
      const sizes = await Promise.all(pids.map(memoryOf));
      const files = (await Promise.all(pids.map(filesOf))).reduce((sum, count) => sum + count, 0);
      const megabytes = sizes.reduce((sum, size) => sum + size, 0);
      // It died meanwhile.
      if (sizes[0] === 0) return;
      samples.push({ at, kind, process, ageMs: at - (born.get(pid) ?? at), megabytes, files });
    }),
  );
}

async function memoryOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
}

async function filesOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`).catch(() => [])).length;
}

async function sampleConnections({ pool }: Cluster, samples: ConnectionSample[]): Promise<void> {
  const at = Date.now();
  const answer = await pool
    .query<{ application: string; count: number }>(
      `select application_name as application, count(*)::int as count from pg_stat_activity
       where application_name like 'deerflow %' group by application_name`,
    )
    .catch(() => null);
  for (const row of answer?.rows ?? []) samples.push({ at, ...row });
}

/** What the soak does to the cluster: one process, all of one kind or everything, killed, asked to stop or frozen. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '../cluster/cluster';
import { signalTree } from '../cluster/process-tree';
import type { Slot } from '../cluster/slot';
import type { Random } from '../random';

export interface Restart {
  name: string;
  perform(): Promise<void>;
}

/** How long what was killed is away, and how long what is frozen stands still. */
const AWAY_MS = [200, 3_000] as const;
const FROZEN_MS = [2_000, 9_000] as const;

type Choice = readonly [weight: number, plan: (cluster: Cluster, random: Random) => Restart];

const CHOICES: readonly Choice[] = [
  [4, (cluster, random) => killed([random.pick(cluster.workers)], random)],
  [3, (cluster, random) => killed([random.pick(cluster.apis)], random)],
  [3, (cluster, random) => stopped([random.pick(cluster.slots)])],
  [4, (cluster, random) => frozen(random.pick(cluster.slots), random)],
  [2, (cluster, random) => killed(cluster.workers, random)],
  [1, (cluster, random) => killed(cluster.apis, random)],
  [1, (cluster) => stopped(cluster.slots)],
  [3, (cluster, random) => serverKilled(cluster, 'postgres', random)],
  [3, (cluster, random) => serverKilled(cluster, 'temporal', random)],
  [2, (cluster, random) => serverFrozen(cluster, 'postgres', random)],
  [1, (cluster, random) => serverFrozen(cluster, 'temporal', random)],
  [3, everything],
];

export function planRestart(cluster: Cluster, random: Random): Restart {
  let left = random.between(
    0,
    CHOICES.reduce((sum, [weight]) => sum + weight, 0),
  );
  for (const [weight, plan] of CHOICES) {
    left -= weight;
    if (left < 0) return plan(cluster, random);
  }
  return everything(cluster, random);
}

const namesOf = (slots: readonly Slot[]): string => slots.map(({ name }) => name).join(' and ');

function killed(slots: readonly Slot[], random: Random): Restart {
  const awayMs = random.between(...AWAY_MS);
  return {
    name: `kill ${namesOf(slots)}`,
    async perform() {
      await Promise.all(slots.map((slot) => slot.kill()));
      await delay(awayMs);
      await Promise.all(slots.map((slot) => slot.start()));
    },
  };
}

/** A deploy: each process ends its work in order and comes back. */
function stopped(slots: readonly Slot[]): Restart {
  return {
    name: `stop ${slots.length > 2 ? 'every process' : namesOf(slots)}`,
    async perform() {
      for (const slot of slots) {
        await slot.stop();
        await slot.start();
      }
    },
  };
}

function frozen(slot: Slot, random: Random): Restart {
  const ms = random.between(...FROZEN_MS);
  return { name: `freeze ${slot.name} for ${seconds(ms)}`, perform: () => slot.freeze(ms) };
}

type Server = 'postgres' | 'temporal';

function serverKilled({ servers }: Cluster, server: Server, random: Random): Restart {
  const awayMs = random.between(...AWAY_MS);
  return {
    name: `kill ${server} for ${seconds(awayMs)}`,
    async perform() {
      await servers[server].kill();
      await delay(awayMs);
      await servers[server].start();
    },
  };
}

function serverFrozen({ servers, disturbances }: Cluster, server: Server, random: Random): Restart {
  const ms = random.between(...FROZEN_MS);
  return {
    name: `freeze ${server} for ${seconds(ms)}`,
    async perform() {
      const { pid } = servers[server];
      const from = Date.now();
      signalTree(pid, 'SIGSTOP');
      try {
        await delay(ms);
      } finally {
        signalTree(pid, 'SIGCONT');
        disturbances.push({ process: server, from, to: Date.now() });
      }
    },
  };
}

/** The machine fails: nothing is left but what was written. */
function everything({ slots, servers }: Cluster, random: Random): Restart {
  const awayMs = random.between(...AWAY_MS);
  return {
    name: 'kill everything',
    async perform() {
      await Promise.all([...slots.map((slot) => slot.kill()), servers.postgres.kill(), servers.temporal.kill()]);
      await delay(awayMs);
      await Promise.all([servers.postgres.start(), servers.temporal.start()]);
      await Promise.all(slots.map((slot) => slot.start()));
    },
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

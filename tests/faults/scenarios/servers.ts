/** PostgreSQL and Temporal: killed, stopped, frozen, away, and with their connections cut. */
import { setTimeout as delay } from 'node:timers/promises';
import { signalTree } from '../cluster/process-tree';
import type { KillableServer } from '../../e2e/durability/private-servers';
import { trickle } from './load';
import type { Scenario, ScenarioContext } from './scenario';

const LONG_FREEZE_MS = 30_000;
const LONG_ABSENCE_MS = 120_000;
const WARM_UP_MS = 3_000;

type ServerName = 'postgres' | 'temporal';

const TITLES: Readonly<Record<ServerName, string>> = { postgres: 'PostgreSQL', temporal: 'Temporal' };

/** How each server is asked to stop without waiting for its clients. */
const STOP_SIGNALS: Readonly<Record<ServerName, NodeJS.Signals>> = { postgres: 'SIGINT', temporal: 'SIGTERM' };

function restarted(name: ServerName, how: string, end: (server: KillableServer) => Promise<void>): Scenario {
  return {
    name: `${name}: ${how} and started again`,
    title: `${TITLES[name]} is ${how} in the middle of runs, twice: they go on when it is back`,
    long: !(name === 'postgres' && how === 'killed'),
    async run(context) {
      const server = context.cluster.servers[name];
      await trickle(context, async () => {
        for (let round = 0; round < 2; round += 1) {
          await delay(context.random.between(0.5, 1) * WARM_UP_MS);
          await end(server);
          await delay(context.random.between(0, 3_000));
          await server.start();
        }
      });
    },
  };
}

function frozen(name: ServerName): Scenario {
  return {
    name: `${name}: freeze for 30 s`,
    title: `${TITLES[name]} stands still for 30 s without closing a connection: runs go on afterwards`,
    long: true,
    unavailable: () => (process.platform === 'linux' ? null : 'finding the processes of a server needs /proc'),
    async run(context) {
      const { pid } = context.cluster.servers[name];
      const from = Date.now();
      await trickle(
        context,
        async () => {
          await delay(WARM_UP_MS);
          signalTree(pid, 'SIGSTOP');
          await delay(LONG_FREEZE_MS);
          signalTree(pid, 'SIGCONT');
        },
        { everyMs: 4_000 },
      );
      disturbAll(context, from);
    },
  };
}

const temporalAway: Scenario = {
  name: 'temporal: away for two minutes',
  title: 'Temporal is away for two minutes: accepted runs wait, and everything goes on when it is back',
  long: true,
  async run(context) {
    const { temporal } = context.cluster.servers;
    await trickle(
      context,
      async () => {
        await delay(WARM_UP_MS);
        await temporal.kill();
        await delay(LONG_ABSENCE_MS);
        await temporal.start();
      },
      { everyMs: 8_000 },
    );
  },
};

const connectionsCut: Scenario = {
  name: 'postgres: its connections cut',
  title: 'PostgreSQL ends every connection again and again: every step is stored once, and every run goes on',
  long: true,
  async run(context) {
    const { cluster, random } = context;
    await trickle(context, async () => {
      for (let round = 0; round < 6; round += 1) {
        await delay(random.between(300, 2_500));
        if (random.chance(0.5)) for (const { links } of cluster.slots) links.postgres.cut();
        else await cluster.pool.query(TERMINATE_OTHERS);
      }
    });
  },
};

const TERMINATE_OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name like 'deerflow%' and pid <> pg_backend_pid()`;

function disturbAll({ cluster }: ScenarioContext, from: number): void {
  const to = Date.now() + 3_000;
  for (const { name } of cluster.slots) cluster.disturbances.push({ process: name, from, to });
}

export const scenariosOfServers: readonly Scenario[] = [
  ...(['postgres', 'temporal'] as const).flatMap((name) => [
    restarted(name, 'killed', (server) => server.kill()),
    restarted(name, 'stopped', (server) => server.end(STOP_SIGNALS[name])),
    frozen(name),
  ]),
  connectionsCut,
  temporalAway,
];

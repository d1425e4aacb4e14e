/** Most scenarios: a process, a point on one of its lines, a moment, and what happens to the process there. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SlotKind } from '../cluster/slot';
import type { Moment, Trap } from '../links/points';
import type { Scenario, ScenarioContext } from './scenario';

interface Point {
  operation: string;
  moments: readonly Moment[];
  /** What leads there, once; again and again until the process has reached the point. */
  feed: (context: ScenarioContext) => Promise<unknown>;
}

const BOTH: readonly Moment[] = ['before', 'after'];

const anyRun = ({ workload }: ScenarioContext) => workload.start();
const toolRun = ({ workload }: ScenarioContext) => workload.start({ plan: { turns: ['mixed', 'bash', 'pair'] } });
const manyCalls = ({ workload }: ScenarioContext) => workload.start({ plan: { turns: ['many', 'many', 'many'] } });
const slowRun = ({ workload }: ScenarioContext) => workload.start({ plan: { turns: ['slow', 'mixed'] } });
const talk = ({ workload }: ScenarioContext) => workload.start({ plan: { turns: ['write'], tokens: 60, gap: 20 } });
const byVictim = ({ workload, victim }: ScenarioContext) => workload.start({ api: victim });

async function cancelled({ workload, victim, random }: ScenarioContext): Promise<void> {
  const run = await workload.start({ plan: { turns: ['slow', 'slow'] } });
  await delay(random.between(50, 1_500));
  await workload.cancel(run, random.pick(['interrupt', 'rollback']), victim);
}

const POINTS: Readonly<Record<SlotKind, readonly Point[]>> = {
  worker: [
    { operation: 'postgres:commit of a reply', moments: BOTH, feed: anyRun },
    { operation: 'postgres:commit of a tool result', moments: BOTH, feed: toolRun },
    { operation: 'postgres:commit of a begin', moments: BOTH, feed: anyRun },
    { operation: 'postgres:commit of an end', moments: BOTH, feed: anyRun },
    { operation: 'postgres:start of a tool', moments: BOTH, feed: toolRun },
    { operation: 'postgres:append of events', moments: BOTH, feed: talk },
    { operation: 'postgres:facts of a step', moments: ['before'], feed: anyRun },
    { operation: 'temporal:RespondActivityTaskCompleted', moments: BOTH, feed: toolRun },
    { operation: 'temporal:RespondWorkflowTaskCompleted', moments: BOTH, feed: anyRun },
    { operation: 'temporal:RecordActivityTaskHeartbeat', moments: BOTH, feed: slowRun },
    { operation: 'temporal:PollActivityTaskQueue', moments: ['after'], feed: manyCalls },
    { operation: 'temporal:PollWorkflowTaskQueue', moments: ['after'], feed: anyRun },
  ],
  api: [
    { operation: 'postgres:commit of an admission', moments: BOTH, feed: byVictim },
    { operation: 'postgres:commit of a cancel', moments: BOTH, feed: cancelled },
    { operation: 'postgres:read of events', moments: BOTH, feed: talk },
    { operation: 'temporal:StartWorkflowExecution', moments: BOTH, feed: byVictim },
    { operation: 'temporal:SignalWithStartWorkflowExecution', moments: BOTH, feed: cancelled },
  ],
};

/** What happens to the process while it waits at its point. */
const BLOWS = {
  async kill({ victim }: ScenarioContext, trap: Trap) {
    await victim.kill();
    trap.cut();
    await delay(RESTART_MS);
    await victim.start();
  },
  async terminate({ victim }: ScenarioContext, trap: Trap) {
    const stopped = victim.stop();
    await delay(DRAINING_MS);
    trap.pass();
    await stopped;
    await victim.start();
  },
  async freeze({ victim }: ScenarioContext, trap: Trap) {
    const thawed = victim.freeze(FREEZE_MS);
    trap.pass();
    await thawed;
  },
  async cut(_context: ScenarioContext, trap: Trap) {
    trap.cut();
  },
} as const;

type Blow = keyof typeof BLOWS;

const RESTART_MS = 500;
const DRAINING_MS = 300;

/** Longer than the server waits for a heartbeat and for a workflow task. */
const FREEZE_MS = 8_000;

/** At this many passages a point is held at the latest. */
const MAX_SKIP = 3;

/** What the short set takes of the table. */
const SHORT = new Set([
  'worker: kill before postgres:commit of a reply',
  'worker: kill after postgres:commit of a reply',
  'worker: kill after postgres:start of a tool',
  'worker: kill after postgres:commit of an end',
  'api: kill after postgres:commit of an admission',
  'api: cut after postgres:commit of an admission',
  'api: kill before temporal:SignalWithStartWorkflowExecution',
  'api: kill after postgres:read of events',
]);

function scenarioAtPoint(kind: SlotKind, point: Point, moment: Moment, blow: Blow): Scenario {
  const name = `${kind}: ${blow} ${moment} ${point.operation}`;
  return {
    name,
    title: `${TITLES[blow]} ${moment} ${point.operation.replace(/^\w+:/, '')}: every run goes on`,
    long: !SHORT.has(name),
    victim: kind,
    async run(context) {
      const { victim, random, workload } = context;
      const skip = random.integer(0, MAX_SKIP);
      const trap = victim.points.arm({ operation: point.operation, moment }, { skip });
      const begun: Array<Promise<unknown>> = [];
      try {
        for (let round = 0; ; round += 1) {
          begun.push(point.feed(context));
          const next = await Promise.race([trap.reached.then(() => 'reached'), delay(FEED_EVERY_MS)]);
          if (next === 'reached') break;
        }
        await BLOWS[blow](context, trap);
      } finally {
        trap.pass();
      }
      await Promise.all(begun);
      await workload.start();
    },
  };
}

const FEED_EVERY_MS = 1_200;

const TITLES: Readonly<Record<Blow, string>> = {
  kill: 'killed',
  terminate: 'asked to stop',
  freeze: 'frozen',
  cut: 'cut off from its server',
};

export const scenariosAtPoints: readonly Scenario[] = (['worker', 'api'] as const).flatMap((kind) =>
  POINTS[kind].flatMap((point) =>
    point.moments.flatMap((moment) =>
      (Object.keys(BLOWS) as Blow[]).map((blow) => scenarioAtPoint(kind, point, moment, blow)),
    ),
  ),
);

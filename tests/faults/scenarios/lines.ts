/** Every line between two processes: slow, cut again and again, silent. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SlotKind, SlotLinks } from '../cluster/slot';
import type { TcpLink } from '../links/tcp-link';
import { trickle } from './load';
import type { Scenario, ScenarioContext } from './scenario';

interface Line {
  kind: SlotKind;
  link: keyof SlotLinks;
  between: string;
}

const LINES: readonly Line[] = [
  { kind: 'worker', link: 'postgres', between: 'a worker and PostgreSQL' },
  { kind: 'worker', link: 'temporal', between: 'a worker and Temporal' },
  { kind: 'worker', link: 'model', between: 'a worker and the model' },
  { kind: 'api', link: 'postgres', between: 'an API and PostgreSQL' },
  { kind: 'api', link: 'temporal', between: 'an API and Temporal' },
  { kind: 'api', link: 'clients', between: 'clients and an API' },
];

const LATENCY_MS = 2_000;
const TROUBLE_MS = 12_000;
const CUTS = 6;

/** What is under way when the trouble ends may still be late. */
const AFTERMATH_MS = 3_000;

const TROUBLES = {
  async slow(link: TcpLink) {
    link.latencyMs = LATENCY_MS;
    await delay(TROUBLE_MS);
    link.latencyMs = 0;
  },
  async silent(link: TcpLink) {
    link.silent = true;
    await delay(TROUBLE_MS);
    link.silent = false;
  },
  async cut(link: TcpLink, { random }: ScenarioContext) {
    for (let cut = 0; cut < CUTS; cut += 1) {
      await delay(random.between(100, 2_000));
      link.cut();
    }
  },
  async refused(link: TcpLink) {
    link.refusing = true;
    link.cut();
    await delay(TROUBLE_MS / 2);
    link.refusing = false;
  },
} as const;

type Trouble = keyof typeof TROUBLES;

const TITLES: Readonly<Record<Trouble, string>> = {
  slow: 'two seconds late in each round trip',
  silent: 'silent without being closed',
  cut: 'cut again and again',
  refused: 'cut, and refused for a while',
};

function scenarioOn({ kind, link: name, between }: Line, trouble: Trouble): Scenario {
  return {
    name: `${kind}: line to ${name} ${trouble}`,
    title: `the line between ${between} is ${TITLES[trouble]}: every run goes on`,
    long: true,
    victim: kind,
    async run(context) {
      const { victim, cluster } = context;
      const link = victim.links[name];
      const from = Date.now();
      await trickle(context, async () => {
        await TROUBLES[trouble](link, context);
        link.latencyMs = 0;
        link.silent = false;
        link.refusing = false;
      });
      cluster.disturbances.push({ process: victim.name, from, to: Date.now() + AFTERMATH_MS });
    },
  };
}

export const scenariosOnLines: readonly Scenario[] = LINES.flatMap((line) =>
  (Object.keys(TROUBLES) as Trouble[]).map((trouble) => scenarioOn(line, trouble)),
);

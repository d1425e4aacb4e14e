/** A place in the cluster for one process of the product, which may die and be started again. Its links stay. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Part, PartOptions } from '../../support/product/part';
import { startPart } from '../../support/product/part';
import type { Disturbance } from '../checker';
import type { Points } from '../links/points';
import type { TcpLink } from '../links/tcp-link';

export type SlotKind = 'worker' | 'api';

export interface SlotLinks {
  postgres: TcpLink;
  temporal: TcpLink;
  /** To the model, of a worker. */
  model: TcpLink;
  /** From the clients, of an API. */
  clients: TcpLink;
}

export interface Slot {
  readonly name: string;
  readonly kind: SlotKind;
  readonly points: Points;
  readonly links: SlotLinks;
  /** Address for clients; stays the same when the process is another. */
  readonly url: string;
  readonly pid: number;
  /** Whether it ended without being told to. */
  readonly lost: boolean;
  /** What all its processes wrote. */
  readonly output: string;
  start(options?: PartOptions): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** SIGSTOP, and SIGCONT after a while. */
  freeze(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface SlotOptions {
  name: string;
  kind: SlotKind;
  points: Points;
  links: SlotLinks;
  env: Record<string, string>;
  disturbances: Disturbance[];
}

const SCRIPTS: Readonly<Record<SlotKind, string>> = { worker: 'dist/workers/worker.js', api: 'dist/api/server.js' };

/** After it went on a process may be busy with what it missed. */
const AFTER_FREEZE_MS = 1_000;

export function createSlot({ name, kind, points, links, env, disturbances }: SlotOptions): Slot & { port(): number } {
  let part: Part | null = null;
  let meantToRun = false;
  let earlier = '';
  const retire = (): void => {
    earlier += part?.output ?? '';
    part = null;
  };
  return {
    name,
    kind,
    points,
    links,
    url: `http://127.0.0.1:${links.clients.port}`,
    port: () => Number(part === null || part.url === '' ? 0 : new URL(part.url).port),
    get pid() {
      return part?.pid ?? 0;
    },
    get lost() {
      return meantToRun && part?.running !== true;
    },
    get output() {
      return earlier + (part?.output ?? '');
    },
    async start(options) {
      if (part?.running === true) return;
      retire();
      part = await startPart(SCRIPTS[kind], env, options);
      meantToRun = true;
    },
    async kill() {
      meantToRun = false;
      await part?.kill();
      retire();
    },
    async stop() {
      meantToRun = false;
      await part?.stop();
      retire();
    },
    async freeze(ms) {
      const frozen = part;
      const from = Date.now();
      frozen?.signal('SIGSTOP');
      try {
        await delay(ms);
      } finally {
        frozen?.signal('SIGCONT');
        disturbances.push({ process: name, from, to: Date.now() + AFTER_FREEZE_MS });
      }
    },
    async close() {
      meantToRun = false;
      part?.signal('SIGCONT');
      await part?.kill();
      await Promise.all(Object.values(links).map((link: TcpLink) => link.close()));
    },
  };
}

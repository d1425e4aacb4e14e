/** The clock of a worker that jumps: hours ahead, hours back. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { trickle } from './load';
import type { Scenario } from './scenario';

const HOUR_MS = 3_600_000;

/** Loaded first into the worker: `Date` is late or early by what a file says. */
const shiftingDate = (file: string): string => `
const { readFileSync } = require('node:fs');
const RealDate = Date;
const read = () => { try { return Number(readFileSync(${JSON.stringify(file)}, 'utf8')) || 0; } catch { return 0; } };
let offset = read();
setInterval(() => { offset = read(); }, 50).unref();
globalThis.Date = class Date extends RealDate {
  constructor(...parts) { if (parts.length === 0) super(RealDate.now() + offset); else super(...parts); }
  static now() { return RealDate.now() + offset; }
};
`;

export const clockJumps: Scenario = {
  name: 'worker: its clock jumps',
  title: 'the clock of one worker jumps by hours in both directions: nothing is lost, doubled or out of order',
  long: true,
  victim: 'worker',
  async run(context) {
    const { victim, cluster, random } = context;
    const offset = join(cluster.home, `${victim.name}.clock`);
    const preload = join(cluster.home, `${victim.name}.clock.cjs`);
    await Promise.all([writeFile(offset, '0'), writeFile(preload, shiftingDate(offset))]);
    await victim.stop();
    await victim.start({ nodeOptions: ['--require', preload] });
    await trickle(context, async () => {
      for (const hours of [1, -1, 24, -24, 0]) {
        await writeFile(offset, String(hours * HOUR_MS + random.integer(0, 1_000)));
        await delay(random.between(1_500, 3_500));
      }
    });
    await writeFile(offset, '0');
    await victim.stop();
    await victim.start();
  },
};

import { setTimeout as delay } from 'node:timers/promises';
import { managedModelRecordSchema } from '../../../../contracts/schemas/managed-models';
import type { ManagedModelRecord } from '../../../../contracts/schemas/managed-models';
import { createManagedModelSource } from '../../../../models/managed';
import { createLogger } from '../../../../observability';

const record = (name: string, revision = 'r1'): ManagedModelRecord =>
  managedModelRecordSchema.parse({ name, model: 'x', base_url: 'http://127.0.0.1:9/v1', revision });

function start(first: ManagedModelRecord[], pollMs = 60_000) {
  const lines: string[] = [];
  const state = { records: first, failWith: null as Error | null, loads: 0, notify: () => undefined as void };
  const log = createLogger({ name: 'test', destination: { write: (line) => void lines.push(line) } });
  const source = createManagedModelSource({
    log,
    pollMs,
    subscribe(onNotification) {
      state.notify = onNotification;
      return () => (state.notify = () => undefined);
    },
    async load() {
      state.loads += 1;
      const { records } = state;
      await delay(5);
      if (state.failWith !== null) throw state.failWith;
      return records;
    },
  });
  open.push(source);
  return { source, state, log, lines, names: () => source.current().map(({ name }) => name) };
}

const open: Array<{ close(): void }> = [];
afterEach(() => open.splice(0).forEach((source) => source.close()));

describe('the managed models of a process', () => {
  it('follow every notification, and are the same list while nothing has changed', async () => {
    const { source, state, names } = start([record('a')]);
    await source.refresh();
    const before = source.current();
    await source.refresh();
    expect(source.current()).toBe(before);
    let told = 0;
    source.onChange(() => (told += 1));
    state.records = [record('a', 'r2'), record('b')];
    state.notify();
    await source.refresh();
    expect([names(), told]).toEqual([['a', 'b'], 1]);
  });

  it('see a change that comes while they are being read', async () => {
    const { source, state, names } = start([record('a')]);
    const first = source.refresh();
    state.records = [record('b')];
    await Promise.all([source.refresh(), source.refresh(), first]);
    expect([names(), state.loads]).toEqual([['b'], 2]);
  });

  it('are looked at without a notification too, in case its connection is dead', async () => {
    const { source, state, names } = start([record('a')], 10);
    await source.refresh();
    state.records = [record('b')];
    for (let tries = 0; names()[0] !== 'b' && tries < 200; tries += 1) await delay(5);
    expect(names()).toEqual(['b']);
  });

  it('stay while the catalogue cannot be read; the log says so once, and when it is over', async () => {
    const { source, state, names, lines } = start([record('a')]);
    await source.refresh();
    state.failWith = new Error('no key');
    await source.refresh();
    await source.refresh();
    expect([names(), lines.length]).toEqual([['a'], 1]);
    state.failWith = null;
    await source.refresh();
    expect(lines.at(-1)).toContain('can be read again');
  });
});

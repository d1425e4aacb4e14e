import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { RunEvent } from '../../../contracts';
import type { ApiDependencies } from '../../../api/dependencies';
import { streamRun } from '../../../api/sse/stream-run';
import type { RunRow } from '../../../db';

const EVENTS: RunEvent[] = [
  { runId: 'r', number: 0, at: 1, kind: 'run-start', payload: '{"run_id":"r"}', message: null },
  { runId: 'r', number: 1, at: 2, kind: 'custom', payload: '{"said":"last words"}', message: null },
  { runId: 'r', number: 2, at: 3, kind: 'run-end', payload: '{}', message: null },
];

interface World {
  /** What each reading of the feed gives, in order. */
  readings: RunEvent[][];
  row: { admission: string } | null;
  lastNumber: () => Promise<number>;
}

let server: Server | undefined;
afterEach(() => new Promise<void>((resolve) => void (server?.close(() => resolve()) ?? resolve())));

/** The whole text of a stream, from behind the first event on. */
async function streamed({ readings, row, lastNumber }: World): Promise<string> {
  const left = [...readings];
  const deps = {
    settings: { heartbeatMs: 10_000 },
    shutdown: new AbortController().signal,
    stores: { runs: { load: async () => row }, events: { lastNumber, position: async () => 0 } },
    feeds: {
      sources: { rendered: new WeakMap() },
      open: async () => ({ next: async () => left.shift() ?? [], close: () => undefined }),
    },
  } as unknown as ApiDependencies;
  const run = { runId: 'r', threadId: 't', admission: 'active' } as unknown as RunRow;
  const app = express();
  app.get('/', (_request, response, next) => {
    streamRun(deps, response, { run, modes: ['custom'], lastEventId: '1-0' }).catch(next);
  });
  const listening = createServer(app);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return (await fetch(`http://127.0.0.1:${(listening.address() as AddressInfo).port}/`)).text();
}

describe('a stream that was silent for a while', () => {
  it('does not end before its last events, where the run ended since the log was read', async () => {
    const text = await streamed({
      readings: [[], EVENTS.slice(1)],
      row: { admission: 'ended' },
      lastNumber: async () => 2,
    });
    expect(text).toContain('last words');
    expect(text.match(/event: end/g)).toHaveLength(1);
  });

  it('ends where the run has ended and its log is gone', async () => {
    const text = await streamed({ readings: [[]], row: { admission: 'ended' }, lastNumber: async () => -1 });
    expect(text).toBe('event: end\ndata: null\n\n');
  });

  it('ends where the run was deleted', async () => {
    expect(await streamed({ readings: [[]], row: null, lastNumber: async () => -1 })).toContain('event: end');
  });

  it('goes on where the database cannot say whether the run has ended', async () => {
    const failing = async (): Promise<number> => {
      throw new Error('the database is away');
    };
    const text = await streamed({ readings: [[], EVENTS.slice(1)], row: { admission: 'ended' }, lastNumber: failing });
    expect(text).toContain('last words');
  });
});

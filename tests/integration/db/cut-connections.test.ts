import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../db';
import { createDatabase } from '../../../db';
import type { TcpLink } from '../../faults/links/tcp-link';
import { startTcpLink } from '../../faults/links/tcp-link';
import { testServices } from '../../support/services';

let link: TcpLink;
let database: Database;

beforeAll(async () => {
  const url = new URL(testServices().databaseUrl);
  const port = Number(url.port);
  link = await startTcpLink({ targetPort: () => port });
  url.port = String(link.port);
  database = createDatabase({ url: url.href, schema: 'public', maxConnections: 2, applicationName: 'deerflow test' });
});
afterAll(async () => {
  await database.close();
  await link.close();
});

describe('a connection is reset in the middle of a transaction', () => {
  it.each([
    ['while a statement is under way', 'select pg_sleep(5)'],
    ['between two statements', null],
  ])('%s: the transaction fails, the process lives, and the next one gets a new connection', async (_when, sql) => {
    const failing = database.transaction(async (client) => {
      await client.query('select 1');
      setTimeout(() => link.cut(), 50);
      await (sql === null ? delay(150) : client.query(sql));
      await client.query('select 2');
    });
    await expect(failing).rejects.toThrow();
    const found = await database.transaction(async (client) => (await client.query('select 3 as three')).rows);
    expect(found).toEqual([{ three: 3 }]);
  });
});

describe('a process falls silent in the middle of a transaction', () => {
  test('what it had locked is free again after ten seconds, and its transaction fails', async () => {
    const LOCK = 42;
    let reportLocked: () => void = () => undefined;
    const locked = new Promise<void>((resolve) => (reportLocked = resolve));
    const failing = database.transaction(async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
      reportLocked();
      await delay(12_000);
      await client.query('select 1');
    });
    failing.catch(() => undefined);
    await locked;
    await database.transaction((client) => client.query('select pg_advisory_xact_lock($1)', [LOCK]));
    await expect(failing).rejects.toThrow();
  }, 30_000);
});

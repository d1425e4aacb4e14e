import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { testServices } from '../../support/services';

describe('the servers of a test run', () => {
  test('the database answers and makes its commits durable by default', async () => {
    const client = new Client({ connectionString: testServices().databaseUrl });
    await client.connect();
    try {
      const result = await client.query<{ value: string }>(`select current_setting('synchronous_commit') as value`);
      expect(result.rows).toEqual([{ value: 'on' }]);
    } finally {
      await client.end();
    }
  });

  test('the Temporal server knows what operators filter by', async () => {
    const connection = await Connection.connect({ address: testServices().temporalAddress });
    try {
      const known = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
      const names = ['DeerFlowKind', 'DeerFlowOwner', 'DeerFlowStatus', 'DeerFlowThread'];
      expect(Object.keys(known.customAttributes ?? {})).toEqual(expect.arrayContaining(names));
    } finally {
      await connection.close();
    }
  });
});

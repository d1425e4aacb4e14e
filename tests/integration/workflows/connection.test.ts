import { openTemporal } from '../../../temporal';
import { testServices } from '../../support/services';

const { http_proxy: before } = process.env;
afterEach(() => {
  if (before === undefined) delete process.env['http_proxy'];
  else process.env['http_proxy'] = before;
});

test('a proxy for the web does not stand between the product and a server on the same machine', async () => {
  process.env['http_proxy'] = 'http://127.0.0.1:9';
  const temporal = openTemporal({ address: testServices().temporalAddress, namespace: 'default' });
  expect(await temporal.isReachable(5_000)).toBe(true);
  await temporal.close();
});

import { rm } from 'node:fs/promises';
import { createSandboxProvider } from '../../../sandbox';
import { failure, temporaryDirectory, testConfig } from './support';

const scope = { owner: 'alice', threadId: 't1' };

it.each([
  'deerflow.sandbox.local:LocalSandboxProvider',
  'deerflow.sandbox.local.local_sandbox_provider:LocalSandboxProvider',
])('%s gives a sandbox on this host', async (use) => {
  const home = await temporaryDirectory();
  const provider = createSandboxProvider({ home, config: testConfig({ sandbox: { use } }) });
  expect((await provider.acquire(scope)).id).toBe('local:alice:t1');
  await provider.shutdown();
  await rm(home, { recursive: true });
});

it('an unknown provider stops the first use with a configuration error', async () => {
  const provider = createSandboxProvider({
    home: '/nowhere',
    config: testConfig({ sandbox: { use: 'some.where:Else' } }),
  });
  expect(provider.commandsAllowed).toBe(false);
  expect(await failure(provider.acquire(scope))).toMatchObject({ code: 'configuration' });
  await provider.shutdown();
});

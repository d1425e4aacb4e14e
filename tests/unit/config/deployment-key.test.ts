import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deploymentKey } from '../../../config';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'deer-flow-key-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('the deployment key', () => {
  it('is the same for all processes of an installation, also when they start at once', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => deploymentKey(join(home, 'new'))));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(keys[0]).toHaveLength(32);
    expect(await readdir(join(home, 'new'))).toEqual(['.deployment-key']);
  });

  it('can be read by its owner only', async () => {
    await deploymentKey(home);
    expect((await stat(join(home, '.deployment-key'))).mode & 0o777).toBe(0o600);
  });

  it('that is damaged is told, never replaced: what it sealed would be lost', async () => {
    await writeFile(join(home, '.deployment-key'), 'short');
    await expect(deploymentKey(home)).rejects.toThrow('32 bytes');
  });
});

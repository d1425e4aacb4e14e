import { chmod, mkdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createThreadPaths, normaliseOwner } from '../../../sandbox';
import { failure, temporaryDirectory } from './support';

describe('owner directories', () => {
  it.each(['alice', 'user_1', 'A-b', 'x'.repeat(200)])('a safe id %# is used as it is', (owner) => {
    expect(normaliseOwner(owner)).toBe(owner);
  });

  it('a foreign id keeps its safe characters and gets 16 digits of its digest', () => {
    expect(normaliseOwner('person@example.org')).toMatch(/^person-example-org-[0-9a-f]{16}$/);
  });

  it('two different ids never share a directory', () => {
    const ids = ['a@b', 'a-b', 'a/b', 'a b', '../a', '', '..', 'x'.repeat(201), `${'x'.repeat(200)}y`];
    expect(new Set(ids.map(normaliseOwner)).size).toBe(ids.length);
    ids.forEach((id) => expect(normaliseOwner(id)).toMatch(/^[A-Za-z0-9_-]{1,230}$/));
  });
});

describe('thread directories', () => {
  let home: string;
  beforeEach(async () => {
    home = await temporaryDirectory();
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('lie below the home by owner and thread', () => {
    const found = createThreadPaths({ home }).directories('alice', 't1');
    expect(found).toEqual({
      root: join(home, 'users/alice/threads/t1'),
      userData: join(home, 'users/alice/threads/t1/user-data'),
      workspace: join(home, 'users/alice/threads/t1/user-data/workspace'),
      uploads: join(home, 'users/alice/threads/t1/user-data/uploads'),
      outputs: join(home, 'users/alice/threads/t1/user-data/outputs'),
      acpWorkspace: join(home, 'users/alice/threads/t1/acp-workspace'),
    });
  });

  it('lie directly below the home where there is no owner', () => {
    expect(createThreadPaths({ home }).directories(null, 't1').root).toBe(join(home, 'threads/t1'));
  });

  it('are open to every user whatever the umask', async () => {
    const before = process.umask(0o077);
    try {
      const found = await createThreadPaths({ home }).ensure('alice', 't1');
      for (const path of [found.userData, found.workspace, found.uploads, found.outputs]) {
        expect((await stat(path)).mode & 0o777).toBe(0o777);
      }
      await chmod(found.outputs, 0o700);
      await createThreadPaths({ home }).ensure('alice', 't1');
      expect((await stat(found.outputs)).mode & 0o777).toBe(0o777);
    } finally {
      process.umask(before);
    }
  });

  it.each(['', '../x', 'a/b', 'x'.repeat(65), 'ä'])('thread id %j is refused', (threadId) => {
    expect(() => createThreadPaths({ home }).directories('alice', threadId)).toThrow('Invalid thread id');
  });

  it('a link in place of a directory is refused', async () => {
    const paths = createThreadPaths({ home });
    const found = paths.directories('alice', 't1');
    await mkdir(found.userData, { recursive: true });
    await symlink('/etc', found.outputs);
    expect((await failure(paths.ensure('alice', 't1'))).message).toContain('replaced by a link');
  });
});

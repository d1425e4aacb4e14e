import {
  chmod,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
  truncate,
} from 'node:fs/promises';
import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createFixture, failure, temporaryDirectory, type SandboxFixture } from './support';
import { openDirectory, readWhole, replaceFile, sha256 } from '../../../sandbox/local/safe-files';

let fixture: SandboxFixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

const workspace = (name: string) => `/mnt/user-data/workspace/${name}`;
const host = (name: string) => join(fixture.directories.workspace, name);

describe('the sandbox of a thread', () => {
  it('is the same for the same owner and thread, and another for another owner', async () => {
    const { provider, sandbox } = fixture;
    expect(await provider.acquire({ owner: 'alice', threadId: 'thread-1' })).toBe(sandbox);
    const other = await provider.acquire({ owner: 'bob', threadId: 'thread-1' });
    expect(other.id).not.toBe(sandbox.id);
    await sandbox.writeFile(workspace('mine.txt'), 'x', { append: false });
    expect(await other.readBytes(workspace('mine.txt'))).toBeNull();
  });

  it('survives the removal of its directories', async () => {
    await rm(fixture.directories.root, { recursive: true });
    const sandbox = await fixture.provider.acquire({ owner: 'alice', threadId: 'thread-1' });
    await sandbox.writeFile(workspace('a.txt'), 'x', { append: false });
    expect(await sandbox.readFile(workspace('a.txt'))).toBe('x');
  });

  it('keeps working when more than 256 threads were used in between', async () => {
    for (let index = 0; index < 260; index += 1) {
      await fixture.provider.acquire({ owner: 'alice', threadId: `other-${index}` });
    }
    const again = await fixture.provider.acquire({ owner: 'alice', threadId: 'thread-1' });
    expect(again).not.toBe(fixture.sandbox);
    expect(again.id).toBe(fixture.sandbox.id);
  });
});

describe('writing', () => {
  it('makes parent directories that every user may write to', async () => {
    await fixture.sandbox.writeFile(workspace('a/b/c.txt'), 'hällo', { append: false });
    expect(await readFile(host('a/b/c.txt'), 'utf8')).toBe('hällo');
    expect((await stat(host('a/b'))).mode & 0o777).toBe(0o777);
  });

  it('appends, keeps the mode and leaves no temporary file', async () => {
    await writeFile(host('run.sh'), 'one\n');
    await chmod(host('run.sh'), 0o755);
    await fixture.sandbox.writeFile(workspace('run.sh'), 'two\n', { append: true });
    expect(await readFile(host('run.sh'), 'utf8')).toBe('one\ntwo\n');
    expect((await stat(host('run.sh'))).mode & 0o777).toBe(0o755);
    expect(await readdir(fixture.directories.workspace)).toEqual(['run.sh']);
  });

  it('replaces the file as a whole: a reader keeps the version that it opened', async () => {
    await fixture.sandbox.writeFile(workspace('a.txt'), 'old', { append: false });
    const before = await stat(host('a.txt'));
    await fixture.sandbox.writeFile(workspace('a.txt'), 'new', { append: false });
    expect((await stat(host('a.txt'))).ino).not.toBe(before.ino);
  });

  it('is refused where the file is not the expected one, and nothing changes', async () => {
    await writeFile(host('a.txt'), 'mine');
    const write = (expectedSha256: string | null) =>
      fixture.sandbox.writeFile(workspace('a.txt'), 'theirs', { append: false, expectedSha256 });
    expect(await failure(write(sha256('other')))).toMatchObject({ code: 'precondition_failed' });
    expect(await failure(write(null))).toMatchObject({ code: 'precondition_failed' });
    expect(await readFile(host('a.txt'), 'utf8')).toBe('mine');
    expect(await readdir(fixture.directories.workspace)).toEqual(['a.txt']);
    await write(sha256('mine'));
    expect(await readFile(host('a.txt'), 'utf8')).toBe('theirs');
  });

  it.each([
    ['a directory', 'dir', 'Path is a directory'],
    ['a path below a file', 'file/x', 'File not found'],
    ['a name that is too long', 'x'.repeat(300), 'Path is too long'],
  ])('to %s says why it fails', async (_, name, reason) => {
    await mkdir(host('dir'));
    await writeFile(host('file'), '');
    const error = await failure(fixture.sandbox.writeFile(workspace(name), 'x', { append: false }));
    expect(error.message).toContain(reason);
    expect(error.message).not.toContain(fixture.home);
  });

  it.each([
    '/mnt/skills/custom/x',
    '/mnt/acp-workspace/x',
    '/mnt/user-data/x',
    '/etc/x',
    '/mnt/user-data/workspace/../x',
  ])('to %s is refused', async (path) => {
    expect(await failure(fixture.sandbox.writeFile(path, 'x', { append: false }))).toMatchObject({ code: 'forbidden' });
  });

  it('by two at once to one file keeps both appended lines when they hold the path', async () => {
    const append = (line: string) =>
      fixture.sandbox.exclusively(workspace('log.txt'), () =>
        fixture.sandbox.writeFile(workspace('log.txt'), line, { append: true }),
      );
    await Promise.all(Array.from({ length: 20 }, (_, index) => append(`${index}\n`)));
    expect((await readFile(host('log.txt'), 'utf8')).trim().split('\n')).toHaveLength(20);
  });

  it('a link to a file and the file itself share one lock', async () => {
    await writeFile(host('a.txt'), '');
    await symlink('a.txt', host('b.txt'));
    const steps: string[] = [];
    const hold = (name: string) =>
      fixture.sandbox.exclusively(workspace(name), async () => {
        steps.push(`enter ${name}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
        steps.push(`leave ${name}`);
      });
    await Promise.all([hold('a.txt'), hold('b.txt')]);
    const first = steps[0] === 'enter a.txt' ? 'a.txt' : 'b.txt';
    const second = first === 'a.txt' ? 'b.txt' : 'a.txt';
    expect(steps).toEqual([`enter ${first}`, `leave ${first}`, `enter ${second}`, `leave ${second}`]);
  });
});

describe('reading', () => {
  it('keeps every character, a byte order mark included', async () => {
    await writeFile(host('a.txt'), '\uFEFFa\r\nb\0é');
    expect(await fixture.sandbox.readFile(workspace('a.txt'))).toBe('\uFEFFa\r\nb\0é');
  });

  it('a missing file is not found and its bytes are null', async () => {
    expect(await failure(fixture.sandbox.readFile(workspace('no.txt')))).toMatchObject({
      code: 'not_found',
      message: 'File not found: /mnt/user-data/workspace/no.txt',
    });
    expect(await fixture.sandbox.readBytes(workspace('no.txt'))).toBeNull();
  });

  it('a file that is not UTF-8 is no text', async () => {
    await writeFile(host('a.bin'), Buffer.from([0xff, 0xfe, 0x00]));
    expect(await failure(fixture.sandbox.readFile(workspace('a.bin')))).toMatchObject({ code: 'unsupported_media' });
    expect(await fixture.sandbox.readBytes(workspace('a.bin'))).toEqual(Buffer.from([0xff, 0xfe, 0x00]));
  });

  it('a file too large for memory is refused', async () => {
    await writeFile(host('huge'), '');
    await truncate(host('huge'), 101 * 1024 * 1024);
    expect(await failure(fixture.sandbox.readFile(workspace('huge')))).toMatchObject({ code: 'too_large' });
  });

  it('neither a named pipe nor a socket blocks the reader', async () => {
    execFileSync('bash', ['-c', 'mkfifo pipe'], { cwd: fixture.directories.workspace });
    expect((await failure(fixture.sandbox.readFile(workspace('pipe')))).message).toContain('Not a regular file');
    const server = createServer().listen(host('socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    await failure(fixture.sandbox.readFile(workspace('socket')));
    await new Promise((resolve) => server.close(resolve));
  });

  it('a directory is no file', async () => {
    expect((await failure(fixture.sandbox.readFile('/mnt/user-data/workspace'))).message).toContain('is a directory');
  });

  it('an aborted call ends with the reason of the signal', async () => {
    const reason = new Error('stopped');
    const call = fixture.sandbox.readFile(workspace('a.txt'), { signal: AbortSignal.abort(reason) });
    expect(await failure(call)).toBe(reason);
  });
});

describe('links', () => {
  it('that lead out are refused for reading and left out of listings', async () => {
    await symlink('/etc/passwd', host('link'));
    await symlink('/etc', host('etc'));
    await writeFile(host('real.txt'), 'root here');
    expect((await failure(fixture.sandbox.readFile(workspace('link')))).message).toContain('path traversal');
    expect((await failure(fixture.sandbox.readFile(workspace('etc/passwd')))).message).toContain('path traversal');
    expect((await failure(fixture.sandbox.listDirectory(workspace('etc'), 2))).message).toContain('path traversal');
    expect(await fixture.sandbox.listDirectory('/mnt/user-data/workspace', 2)).toEqual([workspace('real.txt')]);
    const grep = { glob: null, literal: false, caseSensitive: false, maxResults: 10 };
    const found = await fixture.sandbox.grep('/mnt/user-data/workspace', 'root', grep);
    expect(found.matches.map((match) => match.path)).toEqual([workspace('real.txt')]);
    expect((await failure(fixture.sandbox.grep(workspace('link'), 'root', grep))).message).toContain('path traversal');
  });

  it('that lead out are refused for writing, as file and as parent directory', async () => {
    const outside = await temporaryDirectory();
    await writeFile(join(outside, 'kept'), 'kept');
    await symlink(join(outside, 'kept'), host('file'));
    await symlink(join(outside, 'missing'), host('broken'));
    await symlink(outside, host('dir'));
    for (const name of ['file', 'broken', 'dir/new.txt', 'dir/a/b/new.txt', 'broken/x']) {
      const error = await failure(fixture.sandbox.writeFile(workspace(name), 'evil', { append: false }));
      expect(error).toMatchObject({ code: 'forbidden' });
      expect(error.message).not.toContain(outside);
    }
    expect(await readdir(outside)).toEqual(['kept']);
    expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('kept');
    await rm(outside, { recursive: true });
  });

  it('between the directories of the thread may be used and stay links', async () => {
    await writeFile(join(fixture.directories.uploads, 'data.txt'), 'up');
    await symlink(join(fixture.directories.uploads, 'data.txt'), host('data.txt'));
    expect(await fixture.sandbox.readFile(workspace('data.txt'))).toBe('up');
    await fixture.sandbox.writeFile(workspace('data.txt'), 'changed', { append: false });
    expect((await lstat(host('data.txt'))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(fixture.directories.uploads, 'data.txt'), 'utf8')).toBe('changed');
  });

  it('in place of the workspace itself lead nowhere', async () => {
    await rename(fixture.directories.workspace, `${fixture.directories.workspace}.old`);
    await symlink('/etc', fixture.directories.workspace);
    expect((await failure(fixture.sandbox.readFile(workspace('passwd')))).message).toContain('path traversal');
    await failure(fixture.sandbox.writeFile(workspace('x'), 'x', { append: false }));
  });

  it('swapped in between the check and the use of a path are noticed on the opened file', async () => {
    const [inside, outside] = [await temporaryDirectory(), await temporaryDirectory()];
    await writeFile(join(outside, 'a.txt'), 'SECRET');
    const start = async () => {
      await rm(join(inside, 'dir'), { recursive: true, force: true });
      await mkdir(join(inside, 'dir'));
      await writeFile(join(inside, 'dir/a.txt'), 'fine');
    };
    let swaps = 0;
    // The scope is asked for between resolving a path and opening it: the moment that an attacker waits for.
    const scope = async () => {
      if (swaps++ === 0) {
        await rm(join(inside, 'dir'), { recursive: true });
        await symlink(outside, join(inside, 'dir'));
      }
      return [inside];
    };
    const target = (name: string) => ({
      virtual: `/mnt/x/${name}`,
      host: join(inside, name),
      mount: { virtual: '/mnt/x', host: inside, writable: true, scope },
    });
    for (const attempt of [
      () => readWhole(target('dir/a.txt')),
      () => openDirectory(target('dir')),
      () => replaceFile(target('dir/a.txt'), { content: () => Buffer.from('evil'), needsCurrent: false }),
      () => replaceFile(target('dir/b/c.txt'), { content: () => Buffer.from('evil'), needsCurrent: false }),
    ]) {
      await start();
      swaps = 0;
      await failure(attempt());
      expect(swaps).toBeGreaterThan(0);
    }
    expect(await readdir(outside)).toEqual(['a.txt']);
    expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe('SECRET');
    await Promise.all([rm(inside, { recursive: true }), rm(outside, { recursive: true })]);
  });

  it('swapped in while files are read and written never let anything out or in', async () => {
    const outside = await temporaryDirectory();
    await writeFile(join(outside, 'secret.txt'), 'SECRET');
    await mkdir(host('good'));
    await writeFile(host('good/secret.txt'), 'fine');
    // A process that changes `dir` between a real directory and a link to the outside as fast as it can.
    const swapper = spawn(
      process.execPath,
      [
        '-e',
        `const fs=require('fs');process.chdir(process.argv[1]);for(;;){try{fs.renameSync('good','dir')}catch{}
         try{fs.renameSync('dir','good')}catch{} try{fs.symlinkSync(process.argv[2],'dir')}catch{} try{fs.unlinkSync('dir')}catch{}}`,
        fixture.directories.workspace,
        outside,
      ],
      { stdio: 'ignore' },
    );
    try {
      const seen = new Set<string>();
      const deadline = Date.now() + 1_500;
      while (Date.now() < deadline) {
        const outcomes = await Promise.allSettled([
          fixture.sandbox.readFile(workspace('dir/secret.txt')),
          fixture.sandbox.writeFile(workspace('dir/new.txt'), 'x', { append: false }),
          fixture.sandbox.listDirectory(workspace('dir'), 1),
        ]);
        outcomes.forEach((outcome) =>
          seen.add(JSON.stringify(outcome.status === 'fulfilled' ? outcome.value : 'refused')),
        );
      }
      expect([...seen].join()).not.toContain('SECRET');
      expect(await readdir(outside)).toEqual(['secret.txt']);
      expect(seen.size).toBeGreaterThan(1);
    } finally {
      swapper.kill('SIGKILL');
      await new Promise((resolve) => swapper.once('exit', resolve));
      await rm(outside, { recursive: true });
    }
  });
});

describe('mounts of the operator', () => {
  it('are readable and writable as configured; bad ones are left out and said in the log', async () => {
    const data = await temporaryDirectory();
    await writeFile(join(data, 'a.txt'), 'a');
    const lines: string[] = [];
    const log = {
      warn: (fields: object, message: string) => lines.push(`warn ${JSON.stringify(fields)} ${message}`),
      error: (fields: object, message: string) => lines.push(`error ${JSON.stringify(fields)} ${message}`),
    };
    const mounts = [
      { host_path: data, container_path: '/mnt/fixed', read_only: true },
      { host_path: data, container_path: '/mnt/open' },
      { host_path: 'relative', container_path: '/mnt/a' },
      { host_path: data, container_path: 'mnt/b' },
      { host_path: data, container_path: '/mnt/user-data/x' },
      { host_path: data, container_path: '/mnt/skills/public' },
      { host_path: join(data, 'gone'), container_path: '/mnt/c' },
    ];
    const other = await createFixture({ sandbox: { mounts }, log });
    try {
      const { sandbox } = other;
      expect(await sandbox.readFile('/mnt/fixed/a.txt')).toBe('a');
      expect((await failure(sandbox.writeFile('/mnt/fixed/a.txt', 'b', { append: false }))).message).toContain(
        'read-only',
      );
      await sandbox.writeFile('/mnt/open/b.txt', 'b', { append: false });
      expect(await readFile(join(data, 'b.txt'), 'utf8')).toBe('b');
      await symlink('/etc', join(data, 'out'));
      expect((await failure(sandbox.readFile('/mnt/open/out/passwd'))).message).toContain('path traversal');
      expect(lines.filter((line) => line.startsWith('warn'))).toHaveLength(4);
      expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
      expect((await failure(sandbox.readFile('/mnt/c/x'))).message).toContain('outside the allowed directories');
    } finally {
      await other.close();
      await rm(data, { recursive: true });
    }
  });
});

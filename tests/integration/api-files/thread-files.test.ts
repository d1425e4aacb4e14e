import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyThreadFiles } from '../../../api/files/copy-thread-files';
import { removeStaleUploads } from '../../../api/files/stale-uploads';
import { removeThreadFiles } from '../../../api/files/remove-thread-files';
import { ensureThreadDirectories, threadLayout } from '../../../api/files/thread-directories';
import { createThreadPaths } from '../../../sandbox/paths';
import { namesIn } from './support';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'deer-flow-thread-files-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const never = new AbortController().signal;

async function thread(threadId: string, owner = 'alice') {
  const directories = threadLayout(home).directories(owner, threadId);
  await ensureThreadDirectories(directories);
  return directories;
}

describe('where files lie', () => {
  test.each(['alice', 'a.person@example.org', '../../root', 'x'.repeat(300), 'ü'])(
    'uploads of %s lie where their agents look for them',
    (owner) => {
      const ours = threadLayout(home).directories(owner, 't');
      expect(ours).toEqual(createThreadPaths({ home }).directories(owner, 't'));
      expect(ours.root.startsWith(`${home}/users/`)).toBe(true);
      expect(ours.root.slice(home.length).split('/')).not.toContain('..');
    },
  );

  test('two owners whose names differ only in unsafe characters never share a directory', () => {
    const layout = threadLayout(home);
    expect(layout.ownerRoot('a.b')).not.toBe(layout.ownerRoot('a/b'));
    expect(layout.ownerRoot('a.b')).not.toBe(layout.ownerRoot('a-b'));
  });
});

describe('removing', () => {
  test('everything of the thread goes, and nothing of others, also where links lead to them', async () => {
    const doomed = await thread('t');
    const other = await thread('other');
    writeFileSync(join(other.outputs, 'keep.txt'), 'keep');
    writeFileSync(join(doomed.outputs, 'a.txt'), 'x');
    symlinkSync(other.outputs, join(doomed.workspace, 'link'));
    expect(await removeThreadFiles(home, { owner: 'alice', threadId: 't' })).toBe(true);
    expect(namesIn(join(home, 'users', 'alice', 'threads'))).toEqual(['other']);
    expect(readFileSync(join(other.outputs, 'keep.txt'), 'utf8')).toBe('keep');
  });

  test('a thread without files, and an id that makes no safe path, have nothing to remove', async () => {
    await thread('t');
    expect(await removeThreadFiles(home, { owner: 'alice', threadId: 'unknown' })).toBe(false);
    expect(await removeThreadFiles(home, { owner: 'alice', threadId: '..' })).toBe(false);
    expect(await removeThreadFiles(home, { owner: 'bob', threadId: 't' })).toBe(false);
    expect(namesIn(join(home, 'users', 'alice', 'threads'))).toEqual(['t']);
  });
});

describe('copying for a branch', () => {
  const copy = (limits?: { maxFiles: number; maxBytes: number; maxDepth: number }, signal = never) =>
    copyThreadFiles(home, {
      owner: 'alice',
      fromThreadId: 'parent',
      toThreadId: 'branch',
      signal,
      ...(limits === undefined ? {} : { limits }),
    });

  test('the branch gets its own copy of workspace, uploads and outputs', async () => {
    const parent = await thread('parent');
    mkdirSync(join(parent.workspace, 'src'));
    writeFileSync(join(parent.workspace, 'src', 'main.py'), 'print(1)', { mode: 0o755 });
    writeFileSync(join(parent.uploads, 'data.csv'), 'a,b');
    writeFileSync(join(parent.outputs, 'report.md'), '# R');
    writeFileSync(join(parent.uploads, '.upload-1.part'), 'half');
    const report = await copy();
    expect(report).toEqual({ found: true, files: 3, bytes: 14, skipped: 0, truncated: false });
    const branch = threadLayout(home).directories('alice', 'branch');
    expect(readFileSync(join(branch.workspace, 'src', 'main.py'), 'utf8')).toBe('print(1)');
    expect(statSync(join(branch.workspace, 'src', 'main.py')).mode & 0o777).toBe(0o755);
    expect(statSync(join(branch.workspace, 'src')).mode & 0o777).toBe(0o777);
    expect(namesIn(branch.uploads)).toEqual(['data.csv']);
    writeFileSync(join(branch.outputs, 'report.md'), 'changed');
    expect(readFileSync(join(parent.outputs, 'report.md'), 'utf8')).toBe('# R');
  });

  test('links are left out, so that a branch never holds what was outside of its parent', async () => {
    const parent = await thread('parent');
    writeFileSync(join(home, 'secret.txt'), 'secret');
    symlinkSync(join(home, 'secret.txt'), join(parent.workspace, 'link.txt'));
    symlinkSync(home, join(parent.workspace, 'directory'));
    expect(await copy()).toMatchObject({ files: 0, skipped: 2 });
    expect(namesIn(threadLayout(home).directories('alice', 'branch').workspace)).toEqual([]);
  });

  test('a copy that reaches a limit stops there and says so', async () => {
    const parent = await thread('parent');
    for (const name of ['a', 'b', 'c']) writeFileSync(join(parent.outputs, name), '12345');
    const limits = { maxFiles: 100, maxBytes: 100, maxDepth: 5 };
    expect(await copy({ ...limits, maxFiles: 2 })).toMatchObject({ files: 2, truncated: true });
    rmSync(join(home, 'users', 'alice', 'threads', 'branch'), { recursive: true });
    expect(await copy({ ...limits, maxBytes: 12 })).toMatchObject({ files: 2, bytes: 10, truncated: true });
    rmSync(join(home, 'users', 'alice', 'threads', 'branch'), { recursive: true });
    mkdirSync(join(parent.outputs, '1/2/3/4/5/6/7'), { recursive: true });
    expect(await copy(limits)).toMatchObject({ truncated: true });
  });

  test('what the branch has already stays as it is', async () => {
    writeFileSync(join((await thread('parent')).outputs, 'a'), 'of the parent');
    const branch = await thread('branch');
    writeFileSync(join(branch.outputs, 'a'), 'of the branch');
    expect(await copy()).toMatchObject({ files: 0, skipped: 1 });
    expect(readFileSync(join(branch.outputs, 'a'), 'utf8')).toBe('of the branch');
  });

  test('a parent without files gives a branch without files', async () => {
    expect(await copy()).toMatchObject({ found: false, files: 0 });
    expect(existsSync(join(home, 'users'))).toBe(false);
  });

  test('a copy that is called off ends', async () => {
    writeFileSync(join((await thread('parent')).outputs, 'a'), 'x');
    await expect(copy(undefined, AbortSignal.abort(new Error('called off')))).rejects.toThrow('called off');
  });
});

describe('what uploads leave behind when their process dies', () => {
  test('old parts are removed at start, those under way and real files stay', async () => {
    const { uploads } = await thread('t');
    const { uploads: ofBob } = await thread('t2', 'bob');
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
    for (const path of [join(uploads, '.upload-old.part'), join(ofBob, '.upload-old.part'), join(uploads, 'old.txt')]) {
      writeFileSync(path, 'x');
      utimesSync(path, hoursAgo, hoursAgo);
    }
    writeFileSync(join(uploads, '.upload-new.part'), 'x');
    expect(await removeStaleUploads(home, { signal: never })).toBe(2);
    expect([namesIn(uploads), namesIn(ofBob)]).toEqual([['.upload-new.part', 'old.txt'], []]);
  });

  test('a home without any threads is fine', async () => {
    expect(await removeStaleUploads(join(home, 'none'), { signal: never })).toBe(0);
  });
});

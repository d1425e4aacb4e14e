import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { LIST_DIRECTORY_LIMIT } from '../../../sandbox';
import { createFixture, failure, type SandboxFixture } from './support';

const ROOT = '/mnt/user-data/workspace';
const GREP = { glob: null, literal: false, caseSensitive: false, maxResults: 100 };
const GLOB = { includeDirectories: false, maxResults: 200 };

let fixture: SandboxFixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

async function put(path: string, content: string | Buffer = ''): Promise<void> {
  const file = join(fixture.directories.userData, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, content);
}

async function globbed(pattern: string, options = GLOB): Promise<string[]> {
  const { paths } = await fixture.sandbox.glob(ROOT, pattern, options);
  return paths.map((path) => path.slice(ROOT.length + 1)).sort();
}

describe('listing', () => {
  it('shows two levels, sorted, directories with a slash', async () => {
    await put('workspace/b.txt');
    await put('workspace/a/c.txt');
    await put('workspace/a/d/e.txt');
    expect(await fixture.sandbox.listDirectory(ROOT, 2)).toEqual([
      `${ROOT}/a/`,
      `${ROOT}/a/c.txt`,
      `${ROOT}/a/d/`,
      `${ROOT}/b.txt`,
    ]);
  });

  it('of a parent shows the directories mounted below it, wherever they lie', async () => {
    await put('uploads/in.txt');
    expect(await fixture.sandbox.listDirectory('/mnt/user-data', 2)).toEqual([
      '/mnt/user-data/outputs/',
      '/mnt/user-data/uploads/',
      '/mnt/user-data/uploads/in.txt',
      '/mnt/user-data/workspace/',
    ]);
    expect(await fixture.sandbox.listDirectory('/mnt/skills', 2)).toEqual([]);
    await mkdir(join(fixture.home, 'skills_view/public/pdf'), { recursive: true });
    await mkdir(join(fixture.home, 'users/alice/skills_view/custom/mine'), { recursive: true });
    expect(await fixture.sandbox.listDirectory('/mnt/skills', 2)).toEqual([
      '/mnt/skills/custom/',
      '/mnt/skills/custom/mine/',
      '/mnt/skills/public/',
      '/mnt/skills/public/pdf/',
    ]);
  });

  it('leaves out what no agent wants to see', async () => {
    for (const name of [
      'node_modules/x.js',
      '.git/HEAD',
      'a.log',
      'b.tmp',
      'c.swp',
      'd~',
      'x.egg-info/y',
      '.env',
      'dist/z',
    ]) {
      await put(`workspace/${name}`);
    }
    await put('workspace/.upload-1.part');
    await put('workspace/.hidden');
    expect(await fixture.sandbox.listDirectory(ROOT, 2)).toEqual([`${ROOT}/.hidden`]);
  });

  it('shows links to places inside and does not descend into them', async () => {
    await put('workspace/dir/x.txt');
    await symlink('dir', join(fixture.directories.workspace, 'link'));
    await symlink('nowhere', join(fixture.directories.workspace, 'broken'));
    expect(await fixture.sandbox.listDirectory(ROOT, 2)).toEqual([`${ROOT}/dir/`, `${ROOT}/dir/x.txt`, `${ROOT}/link`]);
  });

  it('of something missing is an error and never empty', async () => {
    for (const path of [`${ROOT}/gone`, '/mnt/skills/gone', '/mnt/acp-workspace']) {
      expect(await failure(fixture.sandbox.listDirectory(path, 2))).toMatchObject({
        code: 'not_found',
        message: `Directory not found: ${path}`,
      });
    }
    await put('workspace/file');
    expect((await failure(fixture.sandbox.listDirectory(`${ROOT}/file`, 2))).message).toContain('Not a directory');
  });

  it('of a directory with very many files ends at its limit and still shows the neighbours', async () => {
    execFileSync('bash', ['-c', 'mkdir big z && cd big && seq 1 12000 | xargs touch'], {
      cwd: fixture.directories.workspace,
    });
    const listed = await fixture.sandbox.listDirectory(ROOT, 2);
    expect(listed).toHaveLength(LIST_DIRECTORY_LIMIT);
    expect(listed).toContain(`${ROOT}/z/`);
    const started = Date.now();
    expect(await globbed('11999')).toEqual(['big/11999']);
    expect(Date.now() - started).toBeLessThan(5_000);
  });
});

describe('glob', () => {
  beforeEach(async () => {
    for (const name of ['a.py', 'src/b.py', 'src/deep/c.py', 'src/deep/d.ts', '.hidden.py'])
      await put(`workspace/${name}`);
  });

  it.each([
    ['*.py', ['.hidden.py', 'a.py', 'src/b.py', 'src/deep/c.py']],
    ['**/*.py', ['.hidden.py', 'a.py', 'src/b.py', 'src/deep/c.py']],
    ['src/*.py', ['src/b.py']],
    ['src/**/*.py', ['src/b.py', 'src/deep/c.py']],
    ['deep/*', ['src/deep/c.py', 'src/deep/d.ts']],
    ['/*.py', ['.hidden.py', 'a.py']],
    ['*.{ts,md}', ['src/deep/d.ts']],
    ['[ab].py', ['a.py', 'src/b.py']],
    ['?.ts', ['src/deep/d.ts']],
    ['nothing', []],
  ])('%s', async (pattern, expected) => expect(await globbed(pattern)).toEqual(expected));

  it('shows directories only when asked', async () => {
    expect(await globbed('deep')).toEqual([]);
    expect(await globbed('deep', { includeDirectories: true, maxResults: 10 })).toEqual(['src/deep']);
  });

  it('an exact fit is complete, one more is truncated', async () => {
    const four = await fixture.sandbox.glob(ROOT, '*.py', { includeDirectories: false, maxResults: 4 });
    expect([four.truncated, four.paths.length]).toEqual([false, 4]);
    const three = await fixture.sandbox.glob(ROOT, '*.py', { includeDirectories: false, maxResults: 3 });
    expect([three.truncated, three.paths.length]).toEqual([true, 3]);
  });

  it('searches all directories below a parent', async () => {
    await put('outputs/o.py');
    const { paths } = await fixture.sandbox.glob('/mnt/user-data', 'outputs/*.py', GLOB);
    expect(paths).toEqual(['/mnt/user-data/outputs/o.py']);
  });

  it('a pattern that would take for ever ends with an error', async () => {
    await put(`workspace/${'a'.repeat(200)}`);
    const started = Date.now();
    const error = await failure(fixture.sandbox.glob(ROOT, `${'*a'.repeat(30)}b`, GLOB));
    expect(error.message).toContain('takes too long');
    expect(Date.now() - started).toBeLessThan(5_000);
  });
});

describe('grep', () => {
  it('finds lines by a case-insensitive expression, with their numbers', async () => {
    await put('workspace/a.txt', 'one\nTwo\r\nthree two\n');
    const { matches } = await fixture.sandbox.grep(ROOT, '^two', GREP);
    expect(matches).toEqual([{ path: `${ROOT}/a.txt`, lineNumber: 2, line: 'Two' }]);
    expect((await fixture.sandbox.grep(ROOT, '^two', { ...GREP, caseSensitive: true })).matches).toEqual([]);
  });

  it('takes text literally when asked', async () => {
    await put('workspace/a.txt', 'a.c\nabc\n');
    expect((await fixture.sandbox.grep(ROOT, 'a.c', GREP)).matches).toHaveLength(2);
    expect((await fixture.sandbox.grep(ROOT, 'a.c', { ...GREP, literal: true })).matches).toHaveLength(1);
  });

  it('searches one file, or the files that a glob names', async () => {
    await put('workspace/a.txt', 'hit');
    await put('workspace/b.md', 'hit');
    await symlink('a.txt', join(fixture.directories.workspace, 'link.txt'));
    const paths = async (path: string, glob: string | null) =>
      (await fixture.sandbox.grep(path, 'hit', { ...GREP, glob })).matches.map((match) => match.path);
    expect(await paths(`${ROOT}/b.md`, null)).toEqual([`${ROOT}/b.md`]);
    expect(await paths(ROOT, '*.txt')).toEqual([`${ROOT}/a.txt`]);
    expect(await paths(`${ROOT}/link.txt`, null)).toEqual([`${ROOT}/link.txt`]);
  });

  it('passes over large files, binary files and very long lines, and cuts long ones', async () => {
    await put('workspace/large.txt', `hit\n${'x'.repeat(1_200_000)}`);
    await put('workspace/binary.bin', Buffer.concat([Buffer.from('hit\n'), Buffer.from([0])]));
    await put('workspace/long.txt', `hit${'x'.repeat(3_000)}\nhit ${'y'.repeat(296)}\n`);
    const { matches } = await fixture.sandbox.grep(ROOT, 'hit', GREP);
    expect(matches).toHaveLength(1);
    expect(matches[0]).toMatchObject({ path: `${ROOT}/long.txt`, lineNumber: 2 });
    expect(matches[0]?.line).toHaveLength(200);
    expect(matches[0]?.line.endsWith('y...')).toBe(true);
  });

  it('an exact fit is complete, one more is truncated', async () => {
    await put('workspace/a.txt', 'hit\n'.repeat(5));
    expect(await fixture.sandbox.grep(ROOT, 'hit', { ...GREP, maxResults: 5 })).toMatchObject({ truncated: false });
    const four = await fixture.sandbox.grep(ROOT, 'hit', { ...GREP, maxResults: 4 });
    expect(four.truncated).toBe(true);
    expect(four.matches).toHaveLength(4);
  });

  it.each([
    ['(?i)TWO', 'two'],
    ['(?P<word>two)', 'two'],
    ['\\Atwo\\Z', 'two'],
    ['(?s)t.o', 'two'],
  ])('understands %s as Python does', async (pattern, line) => {
    await put('workspace/a.txt', line);
    expect((await fixture.sandbox.grep(ROOT, pattern, GREP)).matches).toHaveLength(1);
  });

  it('an invalid expression and one that would take for ever are errors', async () => {
    await put('workspace/a.txt', `${'a'.repeat(60)}b`);
    expect((await failure(fixture.sandbox.grep(ROOT, '(', GREP))).message).toContain('Invalid regex');
    const started = Date.now();
    expect((await failure(fixture.sandbox.grep(ROOT, '^(a+)+$', GREP))).message).toContain('takes too long');
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  it('stops when it is aborted', async () => {
    execFileSync('bash', ['-c', 'seq 1 5000 | xargs touch'], { cwd: fixture.directories.workspace });
    const controller = new AbortController();
    const reason = new Error('stopped');
    setTimeout(() => controller.abort(reason), 5);
    expect(await failure(fixture.sandbox.grep(ROOT, 'x', { ...GREP, signal: controller.signal }))).toBe(reason);
  });

  it('of something missing is an error', async () => {
    expect(await failure(fixture.sandbox.grep(`${ROOT}/gone`, 'x', GREP))).toMatchObject({ code: 'not_found' });
  });
});

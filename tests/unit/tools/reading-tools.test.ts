import { createHash } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OUTPUTS, WORKSPACE, createToolFixture, type ToolFixture } from './support';

let fixture: ToolFixture;
beforeEach(async () => {
  fixture = await createToolFixture();
});
afterEach(() => fixture.close());

describe('ls', () => {
  it('shows a tree of two levels, and says when it is empty', async () => {
    expect(await fixture.call('ls', { path: WORKSPACE })).toMatchObject({ content: '(empty)', status: 'success' });
    await fixture.put('a.txt', '');
    await mkdir(join(fixture.files.directories.workspace, 'd'));
    expect((await fixture.call('ls', { path: WORKSPACE })).content).toBe(`${WORKSPACE}/a.txt\n${WORKSPACE}/d/`);
  });

  it('says what is wrong with a path', async () => {
    expect(await fixture.call('ls', { path: `${WORKSPACE}/gone` })).toMatchObject({
      status: 'error',
      content: `Error: Directory not found: ${WORKSPACE}/gone`,
    });
    expect((await fixture.call('ls', { path: '/etc' })).content).toMatch(
      /^Error: Access denied: .*Allowed: \/mnt\/user-data/,
    );
  });

  it('cuts a long listing within its limit', async () => {
    const small = await createToolFixture({ sandbox: { ls_output_max_chars: 500 } });
    for (let index = 0; index < 50; index += 1) await small.put(`file-${index}`, '');
    const { content } = await small.call('ls', { path: WORKSPACE });
    expect(content.length).toBeLessThanOrEqual(500);
    expect(content).toContain('cut: showing the first');
    await small.close();
  });
});

describe('read_file', () => {
  it('gives the whole text, marked with the digest of the content', async () => {
    await fixture.put('a.txt', 'one\ntwo\n');
    const outcome = await fixture.call('read_file', { path: `${WORKSPACE}//a.txt` });
    expect(outcome.content).toBe('one\ntwo\n');
    expect(outcome.additionalKwargs?.deerflow_read_mark).toEqual({
      path: `${WORKSPACE}/a.txt`,
      hash: createHash('sha256').update('one\ntwo\n').digest('hex'),
    });
  });

  it.each([
    [{ start_line: 2 }, 'two\nthree'],
    [{ end_line: 2 }, 'one\ntwo'],
    [{ start_line: 2, end_line: 2 }, 'two'],
    [{ start_line: 3, end_line: 99 }, 'three'],
    [{ start_line: '2', end_line: null }, 'two\nthree'],
    [{ start_line: 4 }, '(start_line exceeds file length)'],
    [{ start_line: 0 }, '(start_line must be >= 1)'],
    [{ end_line: 0 }, '(end_line must be >= 1)'],
    [{ start_line: 5, end_line: 3 }, '(start_line > end_line — no lines in range)'],
  ])('%j gives %j', async (range, expected) => {
    await fixture.put('a.txt', 'one\ntwo\nthree\n');
    expect((await fixture.call('read_file', { path: `${WORKSPACE}/a.txt`, ...range })).content).toBe(expected);
  });

  it('a range carries the digest of the whole file', async () => {
    await fixture.put('a.txt', 'one\ntwo\n');
    const outcome = await fixture.call('read_file', { path: `${WORKSPACE}/a.txt`, start_line: 2 });
    expect(outcome.additionalKwargs?.deerflow_read_mark).toMatchObject({
      hash: createHash('sha256').update('one\ntwo\n').digest('hex'),
    });
  });

  it('an empty file says so', async () => {
    await fixture.put('a.txt', '');
    expect((await fixture.call('read_file', { path: `${WORKSPACE}/a.txt` })).content).toBe('(empty)');
  });

  it('a long file is cut within the limit, with how much is shown and how to go on', async () => {
    await fixture.put('a.txt', 'x'.repeat(60_000));
    const { content } = await fixture.call('read_file', { path: `${WORKSPACE}/a.txt` });
    expect(content.length).toBeLessThanOrEqual(50_000);
    expect(content).toMatch(/^x{49000}/);
    expect(content).toMatch(/showing the first \d+ of 60000 characters.*start_line/);
  });

  it('a 3 MB file never comes whole, even where the limits are off', async () => {
    const open = await createToolFixture({
      sandbox: { read_file_output_max_chars: 0 },
      config: { tool_output: { enabled: false } },
    });
    await open.put('a.txt', 'x'.repeat(3_000_000));
    const { content } = await open.call('read_file', { path: `${WORKSPACE}/a.txt` });
    expect(content.length).toBeLessThanOrEqual(200_000);
    expect(content).toContain('characters omitted');
    await open.close();
  });

  it('a picture is refused and points to the tool for pictures', async () => {
    await fixture.put('a.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]));
    const outcome = await fixture.call('read_file', { path: `${WORKSPACE}/a.png` });
    expect(outcome.status).toBe('error');
    expect(outcome.content).toMatch(/^Error: .*binary.*view_image/);
  });

  it.each([
    [`${WORKSPACE}/gone`, 'File not found'],
    [WORKSPACE, 'is a directory'],
    [`${WORKSPACE}/../../x`, 'path traversal'],
    ['/mnt/user-data-x/a', 'Allowed: /mnt/user-data, /mnt/skills'],
  ])('%s is an error: %s', async (path, reason) => {
    const outcome = await fixture.call('read_file', { path });
    expect(outcome.status).toBe('error');
    expect(outcome.content).toMatch(/^Error: /);
    expect(outcome.content).toContain(reason);
    expect(outcome.content).not.toContain(fixture.files.home);
    expect(outcome.additionalKwargs).not.toHaveProperty('deerflow_read_mark');
  });

  it('NUL characters and halves of characters do not reach the conversation', async () => {
    await fixture.put('a.txt', 'a\0b');
    expect((await fixture.call('read_file', { path: `${WORKSPACE}/a.txt` })).content).toBe('ab');
  });
});

describe('glob and grep', () => {
  const fill = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => fixture.put(`f${String(index).padStart(4, '0')}.txt`, 'hit\n')),
    );

  it('number what they found, under a heading', async () => {
    await fill(2);
    expect((await fixture.call('glob', { pattern: '*.txt', path: WORKSPACE })).content).toBe(
      `Found 2 paths under ${WORKSPACE}\n1. ${WORKSPACE}/f0000.txt\n2. ${WORKSPACE}/f0001.txt`,
    );
    expect((await fixture.call('grep', { pattern: 'HIT', path: `${WORKSPACE}/` })).content).toBe(
      `Found 2 matches under ${WORKSPACE}\n${WORKSPACE}/f0000.txt:1: hit\n${WORKSPACE}/f0001.txt:1: hit`,
    );
  });

  it('say when there is nothing', async () => {
    expect((await fixture.call('glob', { pattern: '*.py', path: WORKSPACE })).content).toBe(
      `No files matched under ${WORKSPACE}`,
    );
    expect((await fixture.call('grep', { pattern: 'x', path: WORKSPACE })).content).toBe(
      `No matches found under ${WORKSPACE}`,
    );
  });

  it('say when there is more than was asked for', async () => {
    await fill(3);
    for (const [name, pattern] of [
      ['glob', '*.txt'],
      ['grep', 'hit'],
    ] as const) {
      const exact = await fixture.call(name, { pattern, path: WORKSPACE, max_results: 3 });
      expect(exact.content).not.toContain('showing first');
      const cut = await fixture.call(name, { pattern, path: WORKSPACE, max_results: 2 });
      expect(cut.content).toContain(`under ${WORKSPACE} (showing first 2)\n`);
      expect(cut.content.split('\n')).toHaveLength(4);
      expect(cut.content).toContain('There are more');
    }
  });

  it('return no more than the configuration allows, whatever is asked for', async () => {
    const wide = await createToolFixture({
      config: {
        tools: [
          { name: 'glob', use: 'deerflow.sandbox.tools:glob_tool', max_results: 5_000 },
          { name: 'grep', use: 'deerflow.sandbox.tools:grep_tool' },
        ],
        tool_output: { enabled: false },
      },
    });
    await Promise.all(Array.from({ length: 1_005 }, (_, index) => wide.put(`${index}.txt`, 'hit')));
    const heading = async (name: string, args: { pattern: string; max_results: number }) =>
      (await wide.call(name, { path: WORKSPACE, ...args })).content.split('\n')[0];
    expect(await heading('glob', { pattern: '*', max_results: 5_000 })).toBe(
      `Found 1000 paths under ${WORKSPACE} (showing first 1000)`,
    );
    expect(await heading('glob', { pattern: '*', max_results: 0 })).toContain('Found 200 paths');
    expect(await heading('grep', { pattern: 'hit', max_results: 5_000 })).toContain('Found 100 matches');
    await wide.close();
  });

  it('report bad expressions and missing directories', async () => {
    expect((await fixture.call('grep', { pattern: '(', path: WORKSPACE })).content).toMatch(/^Error: Invalid regex/);
    expect((await fixture.call('grep', { pattern: 'x', path: `${WORKSPACE}/gone` })).content).toMatch(
      /^Error: Directory not found/,
    );
    expect((await fixture.call('glob', { pattern: '*', path: `${WORKSPACE}/gone` })).content).toMatch(
      /^Error: Directory not found/,
    );
    await fixture.put('file', '');
    expect((await fixture.call('glob', { pattern: '*', path: `${WORKSPACE}/file` })).content).toMatch(
      /^Error: Not a directory/,
    );
  });
});

describe('present_files', () => {
  beforeEach(async () => {
    await writeFile(join(fixture.files.directories.outputs, 'a.md'), 'x');
  });

  it('adds each file of the outputs once, in one spelling', async () => {
    const outcome = await fixture.call('present_files', {
      filepaths: [`${OUTPUTS}/a.md`, `${OUTPUTS}//a.md`, `${OUTPUTS}/sub/`],
    });
    expect(outcome).toMatchObject({
      content: 'Successfully presented files',
      status: 'success',
      presented: [`${OUTPUTS}/a.md`, `${OUTPUTS}/sub`],
    });
  });

  it('presents nothing at all where one path lies elsewhere', async () => {
    await symlink('/etc/passwd', join(fixture.files.directories.outputs, 'link'));
    await symlink(fixture.files.directories.workspace, join(fixture.files.directories.outputs, 'inside'));
    for (const path of [
      `${WORKSPACE}/a`,
      `${OUTPUTS}/../workspace/a`,
      `${OUTPUTS}-x/a`,
      'a.md',
      '/etc/passwd',
      `${OUTPUTS}/link`,
      `${OUTPUTS}/inside`,
    ]) {
      const outcome = await fixture.call('present_files', { filepaths: [`${OUTPUTS}/a.md`, path] });
      expect(outcome.status).toBe('error');
      expect(outcome.content).toBe(`Error: Only files in /mnt/user-data/outputs can be presented: ${path}`);
      expect(outcome.presented).toBeUndefined();
    }
  });
});

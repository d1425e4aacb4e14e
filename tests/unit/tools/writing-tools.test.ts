import { createHash } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../contracts';
import { parseWriteLimit, type ToolOutcome } from '../../../tools';
import { WORKSPACE, createToolFixture, type ToolFixture } from './support';

const PATH = `${WORKSPACE}/a.txt`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let fixture: ToolFixture;
beforeEach(async () => {
  fixture = await createToolFixture();
});
afterEach(() => fixture.close());

const write = (content: string, more = {}) => fixture.call('write_file', { path: PATH, content, ...more });
const read = () => fixture.call('read_file', { path: PATH });

function expectRefusal(outcome: ToolOutcome, reason: string): void {
  expect(outcome.status).toBe('error');
  expect(outcome.content).toContain(reason);
}

describe('write_file', () => {
  it('writes a new file without ado, directories included', async () => {
    expect(await fixture.call('write_file', { path: `${WORKSPACE}/x/y.txt`, content: 'ü' })).toMatchObject({
      content: 'OK',
      status: 'success',
    });
    expect(await fixture.get('x/y.txt')).toBe('ü');
  });

  it('refuses a file that was not read, allows it once it was, and refuses it again after the write', async () => {
    await fixture.put('a.txt', 'old');
    expectRefusal(await write('new'), 'has not been read');
    expect(await fixture.get('a.txt')).toBe('old');
    await read();
    expect((await write('new')).content).toBe('OK');
    expectRefusal(await write('newer'), 'has changed since');
    expect(await fixture.get('a.txt')).toBe('new');
  });

  it('refuses a file that somebody else changed since it was read', async () => {
    await fixture.put('a.txt', 'old');
    await read();
    await fixture.put('a.txt', 'theirs');
    expect((await write('mine')).status).toBe('error');
    expect(await fixture.get('a.txt')).toBe('theirs');
  });

  it('refuses a file that changes in the very moment of the write', async () => {
    let interfere = false;
    const racing = await createToolFixture({
      wrapSandbox: (sandbox) => ({
        ...sandbox,
        writeFile: async (...args) => {
          if (interfere) await racing.put('a.txt', 'theirs');
          return sandbox.writeFile(...args);
        },
      }),
    });
    await racing.put('a.txt', 'old');
    await racing.call('read_file', { path: PATH });
    interfere = true;
    const outcome = await racing.call('write_file', { path: PATH, content: 'mine' });
    expectRefusal(outcome, 'has changed since');
    expect(await racing.get('a.txt')).toBe('theirs');
    await racing.close();
  });

  it('two new files of one name at once: one is written, the other is told', async () => {
    const outcomes = await Promise.all([write('first'), write('second')]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['error', 'success']);
    expect(await fixture.get('a.txt')).toBe(outcomes[0]?.status === 'success' ? 'first' : 'second');
  });

  it('appends, under the same rule', async () => {
    expect((await write('one\n', { append: true })).content).toBe('OK');
    expect((await write('two\n', { append: true })).status).toBe('error');
    await read();
    expect((await write('two\n', { append: 'true' })).content).toBe('OK');
    expect(await fixture.get('a.txt')).toBe('one\ntwo\n');
  });

  it('replaces a binary file, which nobody could have read', async () => {
    await fixture.put('a.txt', Buffer.from([0xff, 0xfe]));
    expect((await write('text')).content).toBe('OK');
  });

  it('asks for no reading where the rule is switched off', async () => {
    const free = await createToolFixture({ config: { read_before_write: { enabled: false } } });
    await free.put('a.txt', 'old');
    expect((await free.call('write_file', { path: PATH, content: 'new' })).content).toBe('OK');
    await free.close();
  });

  it('takes 81,920 bytes in one call and not one more, except to append', async () => {
    expect((await write('x'.repeat(81_920))).content).toBe('OK');
    const refused = await fixture.call('write_file', { path: `${WORKSPACE}/b`, content: 'ü'.repeat(40_960) + 'x' });
    expect(refused.status).toBe('error');
    expect(refused.content).toMatch(/^Error: .*81921.*81920.*append=true.*str_replace/);
    const appended = await fixture.call('write_file', {
      path: `${WORKSPACE}/c`,
      content: 'x'.repeat(81_921),
      append: true,
    });
    expect(appended.content).toBe('OK');
  });

  it('takes what the operator allows instead, asked for at each call', async () => {
    let setting: string | undefined = '0';
    const other = await createToolFixture({ writeLimitBytes: () => parseWriteLimit(setting) });
    const tryTo = async (name: string, size: number) =>
      (await other.call('write_file', { path: `${WORKSPACE}/${name}`, content: 'x'.repeat(size) })).status;
    expect(await tryTo('a', 200_000)).toBe('success');
    setting = 'abc';
    expect(await tryTo('b', 81_921)).toBe('error');
    setting = '10';
    expect(await tryTo('c', 11)).toBe('error');
    expect(await tryTo('d', 10)).toBe('success');
    await other.close();
  });

  it.each(['/mnt/skills/custom/x', '/mnt/acp-workspace/x', '/etc/x', '/mnt/user-data/x', `${WORKSPACE}/../x`])(
    'to %s is refused',
    async (path) => {
      const outcome = await fixture.call('write_file', { path, content: 'x' });
      expect(outcome.content).toMatch(/^Error: Access denied/);
    },
  );

  it('to a directory, and through a link that leads out, is refused', async () => {
    await mkdir(join(fixture.files.directories.workspace, 'd'));
    await symlink('/tmp', join(fixture.files.directories.workspace, 'out'));
    expect((await fixture.call('write_file', { path: `${WORKSPACE}/d`, content: 'x' })).content).toContain(
      'is a directory',
    );
    expect((await fixture.call('write_file', { path: `${WORKSPACE}/out/x`, content: 'x' })).content).toContain(
      'path traversal',
    );
  });

  it('a failing disk is reported within 2,000 characters', async () => {
    const broken = await createToolFixture({
      wrapSandbox: (sandbox) => ({
        ...sandbox,
        writeFile: async () => {
          throw new AppError('sandbox', `No space left ${'x'.repeat(5_000)} at the end`);
        },
      }),
    });
    const { content } = await broken.call('write_file', { path: PATH, content: 'x' });
    expect(content).toMatch(/^Error: Failed to write file '\/mnt\/user-data\/workspace\/a.txt': No space left/);
    expect(content).toMatch(/at the end$/);
    expect(content.length).toBeLessThanOrEqual(2_000);
    await broken.close();
  });
});

describe('str_replace', () => {
  const replace = (old: string, replacement: string, more = {}) =>
    fixture.call('str_replace', { path: PATH, old_str: old, new_str: replacement, ...more });

  it('replaces a text, taken literally', async () => {
    await fixture.put('a.txt', 'a.c $& abc');
    await read();
    expect((await replace('a.c', '$&$1')).content).toBe('OK');
    expect(await fixture.get('a.txt')).toBe('$&$1 $& abc');
  });

  it('replaces the first of several and says how many there were, or all of them', async () => {
    await fixture.put('a.txt', 'x x x');
    await read();
    expect((await replace('x', 'y')).content).toBe('OK (replaced the first of 3 occurrences)');
    expect(await fixture.get('a.txt')).toBe('y x x');
    await read();
    expect((await replace('x', 'z', { replace_all: true })).content).toBe('OK');
    expect(await fixture.get('a.txt')).toBe('y z z');
  });

  it('changes nothing for an empty text', async () => {
    await fixture.put('a.txt', 'same');
    expect((await replace('', 'x')).content).toBe('OK');
    expect(await fixture.get('a.txt')).toBe('same');
  });

  it('reports a text or a file that is not there, and a file that was not read', async () => {
    expect((await replace('x', 'y')).content).toBe(`Error: File not found: ${PATH}`);
    await fixture.put('a.txt', 'abc');
    expect((await replace('a', 'y')).content).toContain('has not been read');
    await read();
    expect((await replace('zzz', 'y')).content).toBe(`Error: String to replace not found in file: ${PATH}`);
    await fixture.put('a.txt', Buffer.from([0xff]));
    expect((await replace('a', 'y')).content).toContain('not UTF-8');
  });

  it('of two edits at once, made from one reading, only one is applied', async () => {
    await fixture.put('a.txt', 'a b');
    await read();
    const outcomes = await Promise.all([replace('a', '1'), replace('b', '2')]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['error', 'success']);
  });
});

describe('what a write would do', () => {
  it('is told by the digests before and after', async () => {
    expect(await fixture.plan('write_file', { path: `${WORKSPACE}//a.txt`, content: 'new' })).toEqual({
      path: PATH,
      before: null,
      after: sha256('new'),
    });
    await fixture.put('a.txt', 'old');
    await read();
    expect(await fixture.plan('write_file', { path: PATH, content: '!', append: true })).toEqual({
      path: PATH,
      before: sha256('old'),
      after: sha256('old!'),
    });
    expect(await fixture.plan('str_replace', { path: PATH, old_str: 'o', new_str: '0' })).toEqual({
      path: PATH,
      before: sha256('old'),
      after: sha256('0ld'),
    });
    await fixture.call('str_replace', { path: PATH, old_str: 'o', new_str: '0' });
    expect(sha256(await fixture.get('a.txt'))).toBe(sha256('0ld'));
  });

  it('is nothing where the call would be refused, would change nothing or cannot be read', async () => {
    await fixture.put('a.txt', 'old');
    expect(await fixture.plan('write_file', { path: PATH, content: 'new' })).toBeNull();
    expect(await fixture.plan('write_file', { path: '/etc/x', content: 'new' })).toBeNull();
    expect(await fixture.plan('write_file', { path: `${WORKSPACE}/b`, content: 'x'.repeat(81_921) })).toBeNull();
    expect(await fixture.plan('write_file', { content: 'new' })).toBeNull();
    expect(await fixture.plan('ls', { path: WORKSPACE })).toBeNull();
    await read();
    expect(await fixture.plan('write_file', { path: PATH, content: 'old' })).toBeNull();
    expect(await fixture.plan('str_replace', { path: PATH, old_str: '', new_str: 'x' })).toBeNull();
    expect(await fixture.plan('str_replace', { path: PATH, old_str: 'zzz', new_str: 'x' })).toBeNull();
  });
});

describe('the limit of one write', () => {
  it.each([
    [undefined, 81_920],
    ['', 81_920],
    ['abc', 81_920],
    ['1.5', 81_920],
    ['0', null],
    ['-1', null],
    [' 100 ', 100],
  ])('%j means %j', (text, bytes) => expect(parseWriteLimit(text)).toBe(bytes));
});

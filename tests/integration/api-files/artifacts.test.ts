import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  closeSync,
  ftruncateSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import type { ThreadDirectories } from '../../../core/thread-paths';
import type { FilesApi } from './support';
import { namesIn, rawRequest, startFilesApi } from './support';
import { zipOf } from './zip';

let api: FilesApi;
let directories: ThreadDirectories;
beforeEach(async () => {
  api = await startFilesApi();
  directories = await api.directories('t');
  api.owners.set('t', 'alice');
});
afterEach(() => api.close());

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const BASE = '/api/threads/t/artifacts/mnt/user-data';

function open(path: string, headers: Record<string, string> = {}, query = '') {
  return api.call('GET', `${BASE}/${path}${query}`, { headers });
}

async function detailOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { detail: unknown }).detail;
}

describe('opening a file', () => {
  test('a text is shown in the page, with its SHA-256 as the tag that an edit has to name', async () => {
    writeFileSync(join(directories.outputs, 'report.md'), '# Report\n');
    const answer = await open('outputs/report.md');
    expect([answer.status, await answer.text()]).toEqual([200, '# Report\n']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/markdown; charset=utf-8',
      'content-disposition': "inline; filename*=UTF-8''report.md",
      'accept-ranges': 'bytes',
      'content-length': '9',
      'x-content-type-options': 'nosniff',
      etag: `"${sha256('# Report\n')}"`,
    });
    expect(Date.parse(answer.headers.get('last-modified') ?? '')).not.toBeNaN();
  });

  test('a browser that knows the content already gets 304', async () => {
    writeFileSync(join(directories.outputs, 'a.txt'), 'known');
    const answer = await rawRequest(api, 'GET', `${BASE}/outputs/a.txt`, { 'if-none-match': `"${sha256('known')}"` });
    expect([answer.status, answer.body]).toEqual([304, '']);
  });

  test.each(['page.html', 'page.xhtml', 'pic.svg', 'feed.xml', 'feed.rss', 'style.xsl', 'PAGE.HTM'])(
    '%s can carry scripts, so it is always downloaded and never shown',
    async (name) => {
      writeFileSync(join(directories.outputs, name), '<script>alert(1)</script>');
      const answer = await open(`outputs/${name}`);
      expect(answer.headers.get('content-disposition')).toBe(`attachment; filename*=UTF-8''${name}`);
    },
  );

  test('any file is downloaded where the address asks for it, under its own name', async () => {
    writeFileSync(join(directories.outputs, "Dr. O'Neill (ü).txt"), 'x');
    const answer = await open(`outputs/${encodeURIComponent("Dr. O'Neill (ü).txt")}`, {}, '?download=true');
    expect(answer.headers.get('content-disposition')).toBe(
      "attachment; filename*=UTF-8''Dr.%20O%27Neill%20%28%C3%BC%29.txt",
    );
  });

  test.each([
    ['notes.unknownkind', 'plain text, Grüße', 'text/plain; charset=utf-8'],
    ['Makefile', 'all:\n', 'text/plain; charset=utf-8'],
    ['main.ts', 'const a = 1;\n', 'text/plain; charset=utf-8'],
    ['blob.unknownkind', '\0\x01\x02', 'application/octet-stream'],
    ['empty', '', 'text/plain; charset=utf-8'],
    ['long', 'ü'.repeat(5000), 'text/plain; charset=utf-8'],
    ['pic.png', '\x89PNG', 'image/png'],
    ['data.json', '{}', 'application/json; charset=utf-8'],
  ])('the type of %s is told by its ending, else by its content', async (name, content, type) => {
    writeFileSync(join(directories.outputs, name), content);
    const answer = await open(`outputs/${name}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(answer.headers.get('content-disposition')).toMatch(/^inline; /);
  });

  test('HEAD tells the length and sends nothing', async () => {
    writeFileSync(join(directories.outputs, 'a.txt'), '12345');
    const answer = await api.call('HEAD', `${BASE}/outputs/a.txt`);
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '5', '']);
  });

  test('a missing file, a directory and a path outside are told apart', async () => {
    const asked = ['outputs/none.txt', 'outputs', 'outputs/', '../../etc/passwd'];
    writeFileSync(join(directories.outputs, 'file'), 'x');
    expect(await detailOf(await open('outputs/none.txt'))).toBe('Artifact not found: mnt/user-data/outputs/none.txt');
    expect(await detailOf(await open('outputs/file/below'))).toBe(
      'Artifact not found: mnt/user-data/outputs/file/below',
    );
    expect(await detailOf(await open('outputs'))).toBe('Path is not a file: mnt/user-data/outputs');
    const answers = await Promise.all(asked.map((path) => rawRequest(api, 'GET', `${BASE}/${path}`)));
    expect(answers.map((answer) => answer.status)).toEqual([404, 400, 400, 403]);
    const outside = await api.call('GET', '/api/threads/t/artifacts/etc/passwd');
    expect([outside.status, await detailOf(outside)]).toEqual([400, 'Path must start with /mnt/user-data']);
    const tooLong = await open(`outputs/${'n'.repeat(400)}`);
    expect(tooLong.status).toBe(404);
  });

  test('a thread without files has none, and asking creates none', async () => {
    const answer = await api.call('GET', '/api/threads/other/artifacts/mnt/user-data/outputs/a.txt');
    expect(answer.status).toBe(404);
    expect(namesIn(join(api.home, 'users', 'alice', 'threads'))).toEqual(['t']);
  });
});

describe('staying inside', () => {
  test.each([
    'uploads/..%2f..%2f..%2f..%2fetc%2fpasswd',
    'uploads/%2e%2e/%2e%2e/workspace',
    'uploads/../../../secret.txt',
    'uploads/..%5c..%5csecret.txt',
    'outputs/%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret.txt',
  ])('%s is refused as traversal', async (path) => {
    writeFileSync(join(directories.root, 'secret.txt'), 'secret');
    const answer = await rawRequest(api, 'GET', `${BASE}/${path}`);
    expect([answer.status, answer.body]).toEqual([403, '{"detail":"Access denied: path traversal detected"}']);
  });

  test('a NUL in the path is refused', async () => {
    expect((await rawRequest(api, 'GET', `${BASE}/outputs/a%00.txt`)).status).toBe(400);
  });

  test('links that lead out of the thread are refused, links within it work', async () => {
    writeFileSync(join(api.home, 'secret.txt'), 'secret');
    mkdirSync(join(api.home, 'users', 'bob'), { recursive: true });
    symlinkSync(join(api.home, 'secret.txt'), join(directories.outputs, 'file-link.txt'));
    symlinkSync(api.home, join(directories.outputs, 'directory-link'));
    writeFileSync(join(directories.workspace, 'real.txt'), 'real');
    symlinkSync('../workspace/real.txt', join(directories.outputs, 'inside.txt'));
    for (const path of ['outputs/file-link.txt', 'outputs/directory-link/secret.txt']) {
      const answer = await open(path);
      expect([path, answer.status, await detailOf(answer)]).toEqual([
        path,
        403,
        'Access denied: path traversal detected',
      ]);
    }
    expect(await (await open('outputs/inside.txt')).text()).toBe('real');
  });

  test('a link to itself leads nowhere', async () => {
    symlinkSync('loop', join(directories.outputs, 'loop'));
    expect((await open('outputs/loop')).status).toBe(404);
    expect((await open('outputs/loop/inner.txt')).status).toBe(404);
  });

  test('a named pipe is refused at once instead of being waited for', async () => {
    execFileSync('mkfifo', [join(directories.outputs, 'pipe')]);
    const answer = await open('outputs/pipe');
    expect([answer.status, await detailOf(answer)]).toEqual([400, 'Path is not a file: mnt/user-data/outputs/pipe']);
  });
});

describe('parts of a file', () => {
  test.each([
    ['bytes=0-3', 206, 'bytes 0-3/10', '0123'],
    ['bytes=4-', 206, 'bytes 4-9/10', '456789'],
    ['bytes=-3', 206, 'bytes 7-9/10', '789'],
    ['bytes=-50', 206, 'bytes 0-9/10', '0123456789'],
    ['bytes=0-1048575', 206, 'bytes 0-9/10', '0123456789'],
    ['bytes=9-9', 206, 'bytes 9-9/10', '9'],
    ['bytes=5-2', 200, null, '0123456789'],
    ['bytes=0-1,4-5', 200, null, '0123456789'],
    ['lines=0-1', 200, null, '0123456789'],
    ['bytes=', 200, null, '0123456789'],
  ])('range %s is answered with %i', async (range, status, contentRange, content) => {
    writeFileSync(join(directories.outputs, 'a.txt'), '0123456789');
    const answer = await open('outputs/a.txt', { range });
    expect([answer.status, answer.headers.get('content-range'), await answer.text()]).toEqual([
      status,
      contentRange,
      content,
    ]);
  });

  test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0'])('range %s lies beyond the end', async (range) => {
    writeFileSync(join(directories.outputs, 'a.txt'), '0123456789');
    const answer = await open('outputs/a.txt', { range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */10']);
  });

  test('any range of an empty file is beyond its end, which is how the editor knows that it is empty', async () => {
    writeFileSync(join(directories.outputs, 'empty.txt'), '');
    const answer = await open('outputs/empty.txt', { range: 'bytes=0-1048575' });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */0']);
  });

  test('a part is only given of the content that the client began with', async () => {
    writeFileSync(join(directories.outputs, 'a.txt'), '0123456789');
    const whole = await open('outputs/a.txt');
    const etag = whole.headers.get('etag') ?? '';
    const modified = whole.headers.get('last-modified') ?? '';
    const statusWith = async (ifRange: string) =>
      (await open('outputs/a.txt', { range: 'bytes=0-3', 'if-range': ifRange })).status;
    expect(await statusWith(etag)).toBe(206);
    expect(await statusWith(modified)).toBe(206);
    writeFileSync(join(directories.outputs, 'a.txt'), 'abcdefghij');
    expect(await statusWith(etag)).toBe(200);
    expect(await statusWith('Thu, 01 Jan 2015 00:00:00 GMT')).toBe(200);
  });
});

describe('large files', () => {
  const MEGABYTE = 1_048_576;

  function sparse(name: string, megabytes: number): string {
    const path = join(directories.outputs, name);
    const file = openSync(path, 'w');
    ftruncateSync(file, megabytes * MEGABYTE);
    closeSync(file);
    return path;
  }

  test('a file of 300 MB is streamed without filling the memory, and its tag is no SHA-256', async () => {
    sparse('big.bin', 300);
    const answer = await open('outputs/big.bin');
    expect(answer.headers.get('etag')).not.toMatch(/^"[0-9a-f]{64}"$/);
    const before = process.memoryUsage().rss;
    let received = 0;
    let highest = 0;
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      received += chunk.length;
      highest = Math.max(highest, process.memoryUsage().rss - before);
    }
    expect(received).toBe(300 * MEGABYTE);
    expect(highest).toBeLessThan(200 * MEGABYTE);
  });

  test('a part of a large file is read from its place', async () => {
    const path = sparse('big.bin', 10);
    const file = openSync(path, 'r+');
    const text = Buffer.from('in the middle');
    const at = 7 * MEGABYTE;
    writeSync(file, text, 0, text.length, at);
    closeSync(file);
    const answer = await open('outputs/big.bin', { range: `bytes=${at}-${at + text.length - 1}` });
    expect([answer.status, await answer.text()]).toEqual([206, 'in the middle']);
  });

  test('a client that goes away ends the reading', async () => {
    sparse('big.bin', 200);
    const descriptors = () => namesIn('/proc/self/fd').length;
    const before = descriptors();
    await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          new Promise<void>((resolve) => {
            const request = get({ port: api.port, path: `${BASE}/outputs/big.bin`, agent: false }, (response) => {
              response.once('data', () => request.destroy());
              response.on('error', () => undefined);
              response.once('close', () => resolve());
            });
            request.on('error', () => undefined);
          }),
      ),
    );
    const deadline = Date.now() + 5000;
    while (descriptors() > before + 2 && Date.now() < deadline) await new Promise((go) => setTimeout(go, 20));
    expect(descriptors()).toBeLessThanOrEqual(before + 2);
  });

  test('where a file becomes shorter while it is sent, the connection breaks instead of ending as if complete', async () => {
    const path = sparse('big.bin', 200);
    const outcome = await new Promise<string>((resolve) => {
      get({ port: api.port, path: `${BASE}/outputs/big.bin`, agent: false }, (response) => {
        response.once('data', () => truncateSync(path, 0));
        response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
        response.on('end', () => resolve('complete'));
        response.resume();
      });
    });
    expect(outcome).toBe('ECONNRESET');
  });
});

describe('files in a skill archive', () => {
  test('a member is read by its path, with or without the one folder that everything lies in', async () => {
    writeFileSync(join(directories.outputs, 'x.skill'), zipOf({ 'x/SKILL.md': '# X', 'x/page.html': '<p>' }));
    const direct = await open('outputs/x.skill/x/SKILL.md');
    const short = await open('outputs/x.skill/SKILL.md');
    expect([await direct.text(), await short.text()]).toEqual(['# X', '# X']);
    expect(Object.fromEntries(short.headers)).toMatchObject({
      'cache-control': 'private, max-age=300',
      'content-type': 'text/markdown; charset=utf-8',
      'content-disposition': "inline; filename*=UTF-8''SKILL.md",
    });
    const page = await open('outputs/x.skill/page.html');
    expect(page.headers.get('content-disposition')).toMatch(/^attachment/);
    const part = await open('outputs/x.skill/SKILL.md', { range: 'bytes=2-2' });
    expect([part.status, await part.text()]).toEqual([206, 'X']);
  });

  test('the folder is only left out where it is the only one', async () => {
    writeFileSync(join(directories.outputs, 'x.skill'), zipOf({ 'a/SKILL.md': 'a', 'b/other.md': 'b' }));
    expect((await open('outputs/x.skill/SKILL.md')).status).toBe(404);
    const missing = await open('outputs/x.skill/none.md');
    expect([missing.status, await detailOf(missing)]).toEqual([
      404,
      'Artifact not found: mnt/user-data/outputs/x.skill/none.md',
    ]);
  });

  test('the archive itself is a download like any other, and a directory of such a name is a directory', async () => {
    const archive = zipOf({ 'SKILL.md': 'a' });
    writeFileSync(join(directories.outputs, 'x.skill'), archive);
    mkdirSync(join(directories.outputs, 'd.skill'));
    writeFileSync(join(directories.outputs, 'd.skill', 'SKILL.md'), 'in a directory');
    expect(Buffer.from(await (await open('outputs/x.skill')).arrayBuffer())).toEqual(archive);
    expect(await (await open('outputs/d.skill/SKILL.md')).text()).toBe('in a directory');
  });

  test('a member of more than 16 MiB is refused, however little its archive is and whatever it claims', async () => {
    const bomb = zipOf({ 'bomb.txt': Buffer.alloc(16_777_217) });
    writeFileSync(join(directories.outputs, 'x.skill'), bomb);
    expect(bomb.length).toBeLessThan(100_000);
    expect((await open('outputs/x.skill/bomb.txt')).status).toBe(413);
    writeFileSync(
      join(directories.outputs, 'liar.skill'),
      zipOf({ 'bomb.txt': Buffer.alloc(16_777_217) }, { claimedSize: 10 }),
    );
    expect((await open('outputs/liar.skill/bomb.txt')).status).toBe(400);
  });

  test('what is no archive is told so', async () => {
    writeFileSync(join(directories.outputs, 'x.skill'), 'no zip');
    const answer = await open('outputs/x.skill/SKILL.md');
    expect([answer.status, await detailOf(answer)]).toEqual([400, 'The archive cannot be read']);
  });

  test('members that name a path outside are refused', async () => {
    writeFileSync(join(directories.outputs, 'x.skill'), zipOf({ '../../evil.md': 'x', 'good.md': 'y' }));
    expect((await open('outputs/x.skill/good.md')).status).toBe(400);
  });
});

describe('saving an edit', () => {
  const save = (path: string, content: string, expected_sha256: string) =>
    api.call('PUT', `${BASE}/${path}`, { json: { content, expected_sha256 } });

  test('a file that is still as it was opened is replaced, and the new hash is told', async () => {
    const path = join(directories.outputs, 'report.md');
    writeFileSync(path, 'old\n');
    chmodSync(path, 0o664);
    const opened = (await open('outputs/report.md')).headers.get('etag')?.slice(1, -1) ?? '';
    const answer = await save('outputs/report.md', 'new ü\n', opened);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { path: '/mnt/user-data/outputs/report.md', sha256: sha256('new ü\n'), size: 7 },
    ]);
    expect(readFileSync(path, 'utf8')).toBe('new ü\n');
    expect(statSync(path).mode & 0o777).toBe(0o664);
    expect(namesIn(directories.outputs)).toEqual(['report.md']);
    expect((await save('outputs/report.md', 'newer\n', sha256('new ü\n'))).status).toBe(200);
  });

  test('a file that changed since then is left alone', async () => {
    writeFileSync(join(directories.outputs, 'report.md'), 'by the agent\n');
    const answer = await save('outputs/report.md', 'mine\n', sha256('old\n'));
    expect([answer.status, await detailOf(answer)]).toEqual([412, 'Artifact changed since it was opened']);
    expect(readFileSync(join(directories.outputs, 'report.md'), 'utf8')).toBe('by the agent\n');
    expect([...api.held]).toEqual([]);
  });

  test('of several saves at the same time one wins', async () => {
    writeFileSync(join(directories.outputs, 'a.md'), 'old');
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => save('outputs/a.md', `${n}`, sha256('old'))));
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.every((status) => [200, 409, 412].includes(status))).toBe(true);
    expect(readFileSync(join(directories.outputs, 'a.md'), 'utf8')).toBe(`${statuses.indexOf(200)}`);
  });

  test.each([
    ['a NUL', 'a\u0000b'],
    ['half a character', 'a\ud83d'],
  ])('text with %s is refused instead of being saved as something else', async (_name, content) => {
    writeFileSync(join(directories.outputs, 'a.md'), 'old');
    expect((await save('outputs/a.md', content, sha256('old'))).status).toBe(415);
    expect((await save('outputs/a.md', '😀', sha256('old'))).status).toBe(200);
    expect(readFileSync(join(directories.outputs, 'a.md'), 'utf8')).toBe('😀');
  });

  test('while a run is on, nothing is saved', async () => {
    writeFileSync(join(directories.outputs, 'a.md'), 'old');
    api.held.add('t');
    const answer = await save('outputs/a.md', 'new', sha256('old'));
    expect([answer.status, await detailOf(answer)]).toEqual([
      409,
      'Thread has a run in flight. Save after the run finishes.',
    ]);
    expect(api.held.has('t')).toBe(true);
  });

  test.each([
    ['uploads/a.txt', 400],
    ['workspace/a.txt', 400],
    ['outputs', 400],
    ['outputs/folder', 400],
    ['outputs/none.md', 404],
    ['outputs/x.skill', 415],
    ['outputs/x.skill/SKILL.md', 415],
    ['outputs/link.md', 415],
    ['outputs/nul.bin', 415],
    ['outputs/latin1.txt', 415],
    ['outputs/large.txt', 413],
    ['outputs/out/secret.txt', 403],
    ['outputs/..%2fuploads%2fa.txt', 403],
  ])('saving %s is refused with %i', async (path, status) => {
    const { outputs, uploads, workspace } = directories;
    for (const place of [uploads, workspace]) writeFileSync(join(place, 'a.txt'), 'old');
    mkdirSync(join(outputs, 'folder'));
    writeFileSync(join(outputs, 'x.skill'), 'old');
    writeFileSync(join(api.home, 'secret.txt'), 'old');
    symlinkSync(join(uploads, 'a.txt'), join(outputs, 'link.md'));
    symlinkSync(api.home, join(outputs, 'out'));
    writeFileSync(join(outputs, 'nul.bin'), 'o\0ld');
    writeFileSync(join(outputs, 'latin1.txt'), Buffer.from([0x66, 0xfc]));
    writeFileSync(join(outputs, 'large.txt'), 'x'.repeat(2_097_153));
    const body = Buffer.from(JSON.stringify({ content: 'new', expected_sha256: sha256('old') }));
    const answer = await rawRequest(api, 'PUT', `${BASE}/${path}`, { 'content-type': 'application/json' }, body);
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain(api.home);
    expect(readFileSync(join(uploads, 'a.txt'), 'utf8')).toBe('old');
    expect(readFileSync(join(api.home, 'secret.txt'), 'utf8')).toBe('old');
    expect(lstatSync(join(outputs, 'link.md')).isSymbolicLink()).toBe(true);
  });

  test('a new content of more than 2 MiB is refused, exactly 2 MiB is taken', async () => {
    writeFileSync(join(directories.outputs, 'a.md'), 'old');
    expect((await save('outputs/a.md', 'x'.repeat(2_097_153), sha256('old'))).status).toBe(413);
    expect((await save('outputs/a.md', 'x'.repeat(2_097_152), sha256('old'))).status).toBe(200);
  });

  test('an edit never writes through to another file of the same content', async () => {
    writeFileSync(join(api.home, 'twin.md'), 'old');
    linkSync(join(api.home, 'twin.md'), join(directories.outputs, 'a.md'));
    expect((await save('outputs/a.md', 'new', sha256('old'))).status).toBe(200);
    expect(readFileSync(join(api.home, 'twin.md'), 'utf8')).toBe('old');
  });

  test('a hash that is none is refused by name', async () => {
    const answer = await save('outputs/a.md', 'new', 'abc');
    expect(answer.status).toBe(422);
    expect(await detailOf(answer)).toMatchObject([
      { type: 'string_pattern_mismatch', loc: ['body', 'expected_sha256'] },
    ]);
  });

  test('the files of a thread that is not there, or of somebody else, cannot be saved', async () => {
    writeFileSync(join(directories.outputs, 'a.md'), 'old');
    const body = { json: { content: 'new', expected_sha256: sha256('old') } };
    expect((await api.call('PUT', `${BASE}/outputs/a.md`, { ...body, owner: 'bob' })).status).toBe(404);
    api.owners.delete('t');
    expect((await api.call('PUT', `${BASE}/outputs/a.md`, body)).status).toBe(404);
    expect(readFileSync(join(directories.outputs, 'a.md'), 'utf8')).toBe('old');
  });
});

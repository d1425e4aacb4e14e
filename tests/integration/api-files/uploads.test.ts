import { linkSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { removeThreadFiles } from '../../../api/files/remove-thread-files';
import type { FilesApi } from './support';
import { formOf, namesIn, rawRequest, startFilesApi } from './support';

let api: FilesApi;
beforeEach(async () => {
  api = await startFilesApi();
});
afterEach(() => api.close());

/** A multipart body by hand, for names that no client library would send. */
function multipart(...parts: Array<{ headers: string; content?: string }>) {
  const text = parts.map(({ headers, content = 'x' }) => `--edge\r\n${headers}\r\n\r\n${content}\r\n`).join('');
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=edge' },
    body: Buffer.from(`${text}--edge--\r\n`),
  };
}

async function uploadRaw(threadId: string, ...parts: Array<{ headers: string; content?: string }>) {
  const { headers, body } = multipart(...parts);
  const answer = await rawRequest(api, 'POST', `/api/threads/${threadId}/uploads`, headers, body);
  return {
    status: answer.status,
    body: JSON.parse(answer.body) as { files: Array<{ filename: string }>; detail?: string },
  };
}

describe('uploading', () => {
  test('files may be uploaded before their thread exists, and are described by virtual paths only', async () => {
    const { status, body } = await api.upload('new-chat', formOf(['notes.txt', 'hello']));
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      files: [
        {
          filename: 'notes.txt',
          size: 5,
          path: '/mnt/user-data/uploads/notes.txt',
          virtual_path: '/mnt/user-data/uploads/notes.txt',
          artifact_url: '/api/threads/new-chat/artifacts/mnt/user-data/uploads/notes.txt',
          extension: null,
          modified: null,
          original_filename: null,
          markdown_file: null,
          markdown_path: null,
          markdown_virtual_path: null,
          markdown_artifact_url: null,
        },
      ],
      message: 'Successfully uploaded 1 file(s)',
      skipped_files: [],
    });
    const { uploads, workspace } = await api.directories('new-chat');
    expect(readFileSync(join(uploads, 'notes.txt'), 'utf8')).toBe('hello');
    expect(statSync(join(uploads, 'notes.txt')).mode & 0o044).toBe(0o044);
    expect(statSync(workspace).mode & 0o777).toBe(0o777);
    expect(namesIn(uploads)).toEqual(['notes.txt']);
  });

  test('an uploaded file never replaces another of the same name, in one request or later', async () => {
    const first = await api.upload('t', formOf(['a.txt', '1'], ['a.txt', '2']));
    const later = await api.upload('t', formOf(['a.txt', '3']));
    const named = (answer: typeof first) =>
      answer.body.files?.map((file) => [file['original_filename'], file['filename']]);
    expect(named(first)).toEqual([
      [null, 'a.txt'],
      ['a.txt', 'a_1.txt'],
    ]);
    expect(named(later)).toEqual([['a.txt', 'a_2.txt']]);
    const { uploads } = await api.directories('t');
    expect(['a.txt', 'a_1.txt', 'a_2.txt'].map((name) => readFileSync(join(uploads, name), 'utf8'))).toEqual([
      '1',
      '2',
      '3',
    ]);
  });

  test('twenty uploads of one name at the same time are all kept', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => api.upload('t', formOf(['a.txt', `${index}`]))),
    );
    expect(answers.map(({ status, body }) => [status, body['success']])).toEqual(Array(20).fill([200, true]));
    const { uploads } = await api.directories('t');
    const contents = namesIn(uploads).map((name) => Number(readFileSync(join(uploads, name), 'utf8')));
    expect(contents.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  test('a name with a path in it is reduced to its last part and never leaves the uploads', async () => {
    const { status, body } = await uploadRaw('t', {
      headers: 'Content-Disposition: form-data; name="files"; filename="../../../evil.txt"',
    });
    expect([status, body.files.map((file) => file.filename)]).toEqual([200, ['evil.txt']]);
    const { uploads, root } = await api.directories('t');
    expect(namesIn(uploads)).toEqual(['evil.txt']);
    expect(namesIn(root)).toEqual(['user-data']);
    expect(namesIn(api.home)).toEqual(['users']);
  });

  test('names with blanks, brackets and umlauts are kept as they are', async () => {
    const { body } = await api.upload('t', formOf(['sp ace (1) [ü].txt', 'x']));
    expect(body.files?.[0]).toMatchObject({
      filename: 'sp ace (1) [ü].txt',
      virtual_path: '/mnt/user-data/uploads/sp ace (1) [ü].txt',
      artifact_url: '/api/threads/t/artifacts/mnt/user-data/uploads/sp%20ace%20(1)%20%5B%C3%BC%5D.txt',
    });
    const opened = await api.call('GET', body.files?.[0]?.['artifact_url'] as string);
    expect([opened.status, await opened.text()]).toEqual([200, 'x']);
  });

  test.each([
    ['a NUL character', `filename*=UTF-8''a%00b.txt`],
    ['a line break', `filename*=UTF-8''a%0Ab.txt`],
    ['300 bytes', `filename="${'n'.repeat(300)}"`],
    ['a backslash', `filename*=UTF-8''..%5Cx.txt`],
    ['only dots', 'filename=".."'],
    ['a closing slash', 'filename="folder/"'],
    ['the form of a staging file', 'filename=".upload-x.part"'],
  ])('a file whose name has %s is passed over, and the others are taken', async (_what, filename) => {
    const { status, body } = await uploadRaw(
      't',
      { headers: `Content-Disposition: form-data; name="files"; ${filename}\r\nContent-Type: text/plain` },
      { headers: 'Content-Disposition: form-data; name="files"; filename="good.txt"' },
    );
    expect([status, body.files.map((file) => file.filename)]).toEqual([200, ['good.txt']]);
    expect(namesIn((await api.directories('t')).uploads)).toEqual(['good.txt']);
  });

  test('a link planted in the uploads is not followed, and the answer says which file was not taken', async () => {
    const { uploads } = await api.directories('t');
    const outside = join(api.home, 'outside.txt');
    writeFileSync(outside, 'mine');
    symlinkSync(outside, join(uploads, 'a.txt'));
    symlinkSync(join(api.home, 'nowhere'), join(uploads, 'b.txt'));
    linkSync(outside, join(uploads, 'c.txt'));
    mkdirSync(join(uploads, 'd.txt'));
    const { status, body } = await api.upload(
      't',
      formOf(['a.txt', '1'], ['b.txt', '2'], ['c.txt', '3'], ['d.txt', '4'], ['e.txt', '5']),
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, skipped_files: ['a.txt', 'b.txt', 'c.txt', 'd.txt'] });
    expect(body.files?.map((file) => file['filename'])).toEqual(['e.txt']);
    expect(readFileSync(outside, 'utf8')).toBe('mine');
    expect(namesIn(api.home)).toEqual(['outside.txt', 'users']);
    expect(namesIn(uploads)).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt']);
  });

  test('where the uploads directory itself was replaced by a link, nothing is written through it', async () => {
    const { uploads } = await api.directories('t');
    const outside = join(api.home, 'outside');
    mkdirSync(outside);
    rmSync(uploads, { recursive: true });
    symlinkSync(outside, uploads);
    writeFileSync(join(outside, 'secret.txt'), 's');
    expect((await api.upload('t', formOf(['a.txt', '1']))).status).toBe(403);
    expect(namesIn(outside)).toEqual(['secret.txt']);
    const list = await api.call('GET', '/api/threads/t/uploads/list');
    expect(await list.json()).toEqual({ files: [], count: 0 });
  });
});

describe('limits', () => {
  test('eleven files are refused and none of them stays', async () => {
    const { status, body } = await api.upload(
      't',
      formOf(...Array.from({ length: 11 }, (_, n) => [`${n}.txt`, 'x'] as [string, string])),
    );
    expect([status, body]).toEqual([413, { detail: 'Too many files: maximum is 10' }]);
    expect(namesIn((await api.directories('t')).uploads)).toEqual([]);
  });

  test('one file too large takes the others of its request with it, but nothing that was there', async () => {
    await api.close();
    api = await startFilesApi({ config: { uploads: { max_file_size: 1000, max_total_size: 2500 } } });
    await api.upload('t', formOf(['small.txt', 'before']));
    const tooLarge = await api.upload('t', formOf(['small.txt', 'x'], ['big.bin', 'y'.repeat(1001)], ['c.txt', 'z']));
    expect([tooLarge.status, tooLarge.body]).toEqual([413, { detail: 'File too large: big.bin' }]);
    const inAll = await api.upload('t', formOf(['a', 'x'.repeat(900)], ['b', 'x'.repeat(900)], ['c', 'x'.repeat(900)]));
    expect([inAll.status, inAll.body]).toEqual([413, { detail: 'Total upload size too large' }]);
    const exact = await api.upload('t', formOf(['exact.bin', 'x'.repeat(1000)]));
    expect(exact.status).toBe(200);
    const { uploads } = await api.directories('t');
    expect(namesIn(uploads)).toEqual(['exact.bin', 'small.txt']);
    expect(readFileSync(join(uploads, 'small.txt'), 'utf8')).toBe('before');
  });

  test('a file of 60 MB is refused while it streams in, without filling the memory', async () => {
    const chunk = Buffer.alloc(1_048_576, 'x');
    const before = process.memoryUsage().rss;
    let highest = before;
    const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 5);
    const answer = await streamUpload(chunk, 60);
    clearInterval(watch);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('{"detail":"File too large: big.bin"}');
    expect(highest - before).toBeLessThan(40 * 1_048_576);
    expect(namesIn((await api.directories('t')).uploads)).toEqual([]);
  });

  /** Sends chunk after chunk by hand, as fast as the server takes them, and gives back the whole answer. */
  function streamUpload(chunk: Buffer, times: number): Promise<string> {
    const head = '--edge\r\nContent-Disposition: form-data; name="files"; filename="big.bin"\r\n\r\n';
    const tail = '\r\n--edge--\r\n';
    const length = head.length + chunk.length * times + tail.length;
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(api.port, '127.0.0.1', async () => {
        socket.write(
          `POST /api/threads/t/uploads HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n` +
            `Content-Type: multipart/form-data; boundary=edge\r\n\r\n${head}`,
        );
        for (let sent = 0; sent < times && !socket.destroyed; sent += 1) {
          if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed]);
        }
        if (!socket.destroyed) socket.write(tail);
      });
      const closed = once(socket, 'close');
      socket.on('data', (data) => (answer += data.toString()));
      socket.on('close', () => resolve(answer));
      socket.on('error', (error) => (answer === '' ? reject(error) : undefined));
    });
  }

  test('an upload that the client breaks off leaves nothing', async () => {
    const { uploads } = await api.directories('t');
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      'POST /api/threads/t/uploads HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n' +
        'Content-Type: multipart/form-data; boundary=edge\r\n\r\n' +
        '--edge\r\nContent-Disposition: form-data; name="files"; filename="half.bin"\r\n\r\nhalf of it',
    );
    await until(() => namesIn(uploads).length === 1);
    expect(namesIn(uploads)[0]).toMatch(/^\.upload-.*\.part$/);
    const list = await api.call('GET', '/api/threads/t/uploads/list');
    expect(await list.json()).toEqual({ files: [], count: 0 });
    socket.destroy();
    await until(() => namesIn(uploads).length === 0);
  });

  test('an upload whose thread is deleted meanwhile is told that there is no such thread, and leaves nothing', async () => {
    const { uploads } = await api.directories('t');
    const { headers, body } = multipart({
      headers: 'Content-Disposition: form-data; name="files"; filename="late.bin"',
      content: 'x'.repeat(1000),
    });
    const half = body.length - 500;
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(api.port, '127.0.0.1');
      socket.on('data', (data) => (text += data.toString()));
      socket.on('close', () => resolve(text));
      socket.write(
        'POST /api/threads/t/uploads HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
          `Content-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      socket.write(body.subarray(0, half));
      void until(() => namesIn(uploads).length === 1)
        .then(() => removeThreadFiles(api.home, { owner: 'alice', threadId: 't' }))
        .then(() => socket.write(body.subarray(half)));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(namesIn(join(api.home, 'users', 'alice', 'threads'))).toEqual([]);
  });

  test('the limits of the configuration are told, also for a thread that nobody knows', async () => {
    const answer = await api.call('GET', '/api/threads/unknown/uploads/limits');
    expect(await answer.json()).toEqual({ max_files: 10, max_file_size: 52_428_800, max_total_size: 104_857_600 });
  });
});

describe('requests that are no upload', () => {
  const missing = { detail: [{ type: 'missing', loc: ['body', 'files'], msg: 'Field required', input: null }] };

  test.each([
    ['without parts', () => multipart()],
    [
      'with another field name',
      () => multipart({ headers: 'Content-Disposition: form-data; name="file"; filename="a"' }),
    ],
    ['of JSON', () => ({ headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') })],
  ])('a request %s is told that files are missing', async (_what, make) => {
    const { headers, body } = make();
    const answer = await rawRequest(api, 'POST', '/api/threads/t/uploads', headers, body);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([422, missing]);
  });

  test('a form without a chosen file is answered with no files', async () => {
    const octets = 'Content-Type: application/octet-stream';
    const { status, body } = await uploadRaw('t', {
      headers: `Content-Disposition: form-data; name="files"; filename=""\r\n${octets}`,
      content: '',
    });
    expect(status).toBe(200);
    expect(body).toEqual({ success: true, files: [], message: 'Successfully uploaded 0 file(s)', skipped_files: [] });
  });

  test('a text in place of a file is refused', async () => {
    const { status } = await uploadRaw('t', {
      headers: 'Content-Disposition: form-data; name="files"',
      content: 'text',
    });
    expect(status).toBe(422);
  });

  test.each([
    ['that ends in the middle', '--edge\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhalf'],
    ['with a broken part header', '--edge\r\n\0\0\0: x\r\n\r\nx\r\n--edge--\r\n'],
  ])('a body %s is refused and leaves nothing', async (_what, text) => {
    const { headers } = multipart();
    const answer = await rawRequest(api, 'POST', '/api/threads/t/uploads', headers, Buffer.from(text));
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, { detail: 'There was an error parsing the body' }]);
    expect(namesIn((await api.directories('t')).uploads)).toEqual([]);
  });

  test('a thread id that is no id is refused before anything is written', async () => {
    const answer = await api.upload('a.b', formOf(['a.txt', 'x']));
    expect(answer.status).toBe(422);
    expect((answer.body['detail'] as Array<{ loc: string[] }>)[0]?.loc).toEqual(['path', 'thread_id']);
    expect(namesIn(api.home)).toEqual([]);
  });
});

describe('listing and deleting', () => {
  test('the list is sorted, with sizes and times, and shows neither links nor directories', async () => {
    await api.upload('t', formOf(['b.md', '22'], ['a.txt', '1']));
    const { uploads } = await api.directories('t');
    symlinkSync('/etc/passwd', join(uploads, 'link'));
    mkdirSync(join(uploads, 'folder'));
    writeFileSync(join(uploads, '.upload-dead.part'), 'x');
    const answer = (await (await api.call('GET', '/api/threads/t/uploads/list')).json()) as {
      count: number;
      files: Array<Record<string, unknown>>;
    };
    expect(answer.count).toBe(2);
    expect(answer.files.map((file) => [file['filename'], file['size'], file['extension']])).toEqual([
      ['a.txt', 1, '.txt'],
      ['b.md', 2, '.md'],
    ]);
    expect(Math.abs((answer.files[0]?.['modified'] as number) - Date.now() / 1000)).toBeLessThan(60);
  });

  test('asking for the list of an unknown thread creates nothing', async () => {
    const answer = await api.call('GET', '/api/threads/unknown/uploads/list');
    expect([answer.status, await answer.json()]).toEqual([200, { files: [], count: 0 }]);
    expect(namesIn(api.home)).toEqual([]);
  });

  test('a deleted file is gone, and deleting it again says so', async () => {
    api.owners.set('t', 'alice');
    await api.upload('t', formOf(['a.pdf', '1'], ['a.md', 'written by the user']));
    const first = await api.call('DELETE', '/api/threads/t/uploads/a.pdf');
    expect([first.status, await first.json()]).toEqual([200, { success: true, message: 'Deleted a.pdf' }]);
    const again = await api.call('DELETE', '/api/threads/t/uploads/a.pdf');
    expect([again.status, await again.json()]).toEqual([404, { detail: 'File not found: a.pdf' }]);
    expect(namesIn((await api.directories('t')).uploads)).toEqual(['a.md']);
  });

  test.each(['..%2fsecret.txt', '%2e%2e', '..%5csecret.txt', 'a%2fb.txt'])('deleting %s is refused', async (name) => {
    api.owners.set('t', 'alice');
    const { userData } = await api.directories('t');
    writeFileSync(join(userData, 'secret.txt'), 's');
    const answer = await rawRequest(api, 'DELETE', `/api/threads/t/uploads/${name}`);
    expect(answer.status).toBe(400);
    expect(lstatSync(join(userData, 'secret.txt')).isFile()).toBe(true);
  });

  test('a thread of somebody else is not found, whatever is asked of it', async () => {
    api.owners.set('t', 'alice');
    await api.upload('t', formOf(['a.txt', '1']));
    const asked: Array<[string, string]> = [
      ['GET', 'uploads/limits'],
      ['GET', 'uploads/list'],
      ['DELETE', 'uploads/a.txt'],
      ['GET', 'artifacts/mnt/user-data/uploads/a.txt'],
    ];
    for (const [method, path] of asked) {
      const answer = await api.call(method, `/api/threads/t/${path}`, { owner: 'bob' });
      expect([path, answer.status, await answer.json()]).toEqual([path, 404, { detail: 'Thread t not found' }]);
    }
    expect((await api.upload('t', formOf(['b.txt', '2']), 'bob')).status).toBe(404);
    expect(namesIn(join(api.home, 'users'))).toEqual(['alice']);
  });

  test('two people who use the same unknown id see only files of their own', async () => {
    await api.upload('t', formOf(['a.txt', 'of alice']), 'alice');
    const answer = await api.call('GET', '/api/threads/t/artifacts/mnt/user-data/uploads/a.txt', { owner: 'bob' });
    expect(answer.status).toBe(404);
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('What was waited for did not come');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

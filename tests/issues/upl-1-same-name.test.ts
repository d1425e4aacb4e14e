import { useProduct } from '../e2e/acceptance/scenario';

/** Two files of one name overwrote each other. */
const used = useProduct({ workers: 0 });

interface Uploaded {
  files: Array<{ filename: string; original_filename?: string; virtual_path: string }>;
}

async function upload(threadId: string, ...contents: string[]): Promise<Uploaded> {
  const form = new FormData();
  for (const content of contents) form.append('files', new Blob([content]), 'a.txt');
  const response = await fetch(`${used.product.url}/api/threads/${threadId}/uploads`, { method: 'POST', body: form });
  expect(response.status).toBe(200);
  return (await response.json()) as Uploaded;
}

async function content(threadId: string, path: string): Promise<string> {
  return (await fetch(`${used.product.url}/api/threads/${threadId}/artifacts${path}`)).text();
}

test('files of one name are all kept, in one upload and in later ones, and the answer says what each is called', async () => {
  const threadId = await used.api.newThread();
  const first = await upload(threadId, '1', '2');
  expect(first.files.map(({ filename }) => filename)).toEqual(['a.txt', 'a_1.txt']);
  expect(first.files[1]?.original_filename).toBe('a.txt');
  const second = await upload(threadId, '3');
  expect(second.files).toEqual([expect.objectContaining({ filename: 'a_2.txt', original_filename: 'a.txt' })]);

  const all = [...first.files, ...second.files];
  expect(await Promise.all(all.map((file) => content(threadId, file.virtual_path)))).toEqual(['1', '2', '3']);
  const list = await used.get<Uploaded>(`/api/threads/${threadId}/uploads/list`);
  expect(list.files.map(({ filename }) => filename)).toEqual(['a.txt', 'a_1.txt', 'a_2.txt']);
});

test('twenty uploads of one name at once are twenty files', async () => {
  const threadId = await used.api.newThread();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => upload(threadId, String(index))));
  const paths = answers.map(({ files }) => files[0]?.virtual_path ?? '');
  expect(new Set(paths).size).toBe(20);
  const contents = await Promise.all(paths.map((path) => content(threadId, path)));
  expect(contents).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
});

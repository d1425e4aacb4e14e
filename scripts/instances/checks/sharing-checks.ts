/** What is stored by one instance is read by the other. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../../contracts';
import { asObject, asObjects, asText } from '../../ask/json-access';
import { readJson, within, type Checker } from './checker';

/** What an instance needs to take requests. */
const PROBES = ['database', 'checkpointer', 'stream_bridge', 'temporal'];
const SEEN_WITHIN_MS = 1_000;
const POLL_MS = 20;

export async function bothReady({ a, b }: Checker): Promise<string> {
  for (const [name, { url }] of Object.entries({ a, b })) {
    const report = asObject(await readJson(`${url}/health/ready`));
    const down = PROBES.filter((probe) => report[probe] !== 'ok');
    if (report.status !== 'ready' || down.length > 0) throw wrong(`${name} says ${JSON.stringify(report)}`);
  }
  return PROBES.join(', ');
}

export async function threadSeenByOther({ a, b }: Checker): Promise<string> {
  const mark = randomUUID();
  const made = await readJson(`${a.url}/api/threads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { mark } }),
  });
  const threadId = asText(asObject(made).thread_id);
  const read = asObject(await readJson(`${b.url}/api/threads/${threadId}`));
  if (asObject(read.metadata).mark !== mark) throw wrong(`b says ${JSON.stringify(read)}`);
  return `thread ${threadId}`;
}

export async function uploadSeenByOther({ a, b }: Checker): Promise<string> {
  const threadId = await a.createThread(within());
  const content = `checked by ${randomUUID()}\n`;
  const form = new FormData();
  form.append('files', new Blob([content]), 'note.txt');
  await readJson(`${a.url}/api/threads/${threadId}/uploads`, { method: 'POST', body: form });
  const listed = asObject(await readJson(`${b.url}/api/threads/${threadId}/uploads/list`));
  const file = asObjects(listed.files).find(({ filename }) => filename === 'note.txt');
  if (file === undefined) throw wrong(`b lists ${JSON.stringify(listed)}`);
  const path = asText(file.virtual_path);
  const response = await fetch(`${b.url}/api/threads/${threadId}/artifacts${path}`, { signal: within() });
  if ((await response.text()) !== content) throw wrong(`b answered ${response.status}, and not with the same bytes`);
  return `${path}, ${content.length} bytes`;
}

export async function modelSeenByOther({ b, useModel }: Checker): Promise<string> {
  const name = await useModel();
  const since = Date.now();
  for (;;) {
    const { models } = asObject(await readJson(`${b.url}/api/models`));
    const waited = Date.now() - since;
    if (asObjects(models).some((model) => model.name === name)) return `after ${waited} ms`;
    if (waited > SEEN_WITHIN_MS) throw wrong(`b does not offer it after ${waited} ms`);
    await delay(POLL_MS);
  }
}

function wrong(problem: string): AppError {
  return new AppError('unavailable', problem);
}

/** Tools that change a file, where the worker died between the effect and the commit of the result. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ActivityDependencies } from '../../activities';
import type { JsonObject, ToolMessage } from '../../contracts';
import type { CallKey, WritePlanRow } from '../../db';
import { aiMessage } from '../support/run-fixtures';
import type { Activities } from './support';
import { attempt, openActivities } from './support';

let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());

const VIRTUAL = '/mnt/user-data/workspace/notes.txt';
const BEFORE = 'one two three\n';
const LONG_AGO = new Date('2020-01-01T00:00:00Z');

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

interface PlannedCall {
  threadId: string;
  key: CallKey;
  /** Path of the file on this host. */
  file: string;
}

/** A run that has read the file, and whose newest reply asks for one call. */
async function plannedCall(name: string, args: JsonObject, content: string | null): Promise<PlannedCall> {
  const { threadId, runId } = await suite.admit();
  await attempt(suite.deps, ({ beginRun }) => beginRun({ runId })).result;
  const file = join(suite.workspace(threadId), 'notes.txt');
  await mkdir(suite.workspace(threadId), { recursive: true });
  if (content !== null) await writeFile(file, content);
  const read: ToolMessage = {
    type: 'tool',
    id: randomUUID(),
    name: 'read_file',
    tool_call_id: 'r1',
    status: 'success',
    content: content ?? '',
    artifact: null,
    additional_kwargs: { deerflow_read_mark: { path: VIRTUAL, hash: sha256(content ?? '') } },
    response_metadata: {},
  };
  const reply = randomUUID();
  await suite.db.stores.log.commit({
    threadId,
    runId,
    messages: [
      ...(content === null ? [] : [read]),
      { ...aiMessage('', reply), tool_calls: [{ type: 'tool_call', id: 'c1', name, args }] },
    ],
    toolCalls: [{ toolCallId: 'c1', turn: 1, place: 0, name, messageId: reply }],
    turn: { turn: 1, messageId: reply, outcome: {} },
  });
  return { threadId, file, key: { runId, turn: 1, toolCallId: 'c1' } };
}

/** What the ledger says when the worker dies right after it, before or after the effect. */
async function started({ key }: PlannedCall, writePlan: WritePlanRow | null): Promise<void> {
  const entry = await suite.db.stores.ledger.entry(key);
  if (entry === null) throw new Error('the call is not in the ledger');
  expect(await suite.db.stores.ledger.start(key, entry, writePlan)).toBe(true);
}

function run({ key }: PlannedCall, deps: ActivityDependencies = suite.deps, number = 2): Promise<void> {
  return attempt(deps, ({ runTool }) => runTool(key), number).result;
}

async function result({ threadId }: PlannedCall): Promise<ToolMessage> {
  const results = (await suite.messages(threadId)).filter(
    (message): message is ToolMessage => message.type === 'tool' && message.tool_call_id === 'c1',
  );
  expect(results).toHaveLength(1);
  return results[0] as ToolMessage;
}

/** Fails if the file is written after this, even with the same content. */
async function sealed(file: string): Promise<() => Promise<void>> {
  await utimes(file, LONG_AGO, LONG_AGO);
  const { ino, mtimeMs } = await stat(file);
  return async () => expect(await stat(file)).toMatchObject({ ino, mtimeMs });
}

interface Write {
  name: string;
  tool: string;
  args: JsonObject;
  after: string;
}

const WRITES: readonly Write[] = [
  {
    name: 'write_file',
    tool: 'write_file',
    args: { description: 'd', path: VIRTUAL, content: 'something else\n' },
    after: 'something else\n',
  },
  {
    name: 'write_file, appending',
    tool: 'write_file',
    args: { description: 'd', path: VIRTUAL, content: 'four\n', append: true },
    after: `${BEFORE}four\n`,
  },
  {
    name: 'str_replace',
    tool: 'str_replace',
    args: { description: 'd', path: VIRTUAL, old_str: 'two', new_str: 'two and a half' },
    after: 'one two and a half three\n',
  },
];

const planOf = (after: string, before: string | null = BEFORE): WritePlanRow => ({
  path: VIRTUAL,
  before: before === null ? null : sha256(before),
  after: sha256(after),
});

describe.each(WRITES)('$name, cut off by the death of its worker', ({ tool, args, after }) => {
  test('after the file was changed: answers OK and does not write again', async () => {
    const call = await plannedCall(tool, args, BEFORE);
    await started(call, planOf(after));
    await writeFile(call.file, after);
    const expectUntouched = await sealed(call.file);
    await run(call);
    expect(await result(call)).toMatchObject({ status: 'success', content: 'OK' });
    await expectUntouched();
  });

  test('before the file was changed: writes once', async () => {
    const call = await plannedCall(tool, args, BEFORE);
    await started(call, planOf(after));
    await run(call);
    expect(await result(call)).toMatchObject({ status: 'success', content: 'OK' });
    expect(await readFile(call.file, 'utf8')).toBe(after);
  });

  test('and somebody else changed the file since: tells the model that the outcome is unknown, and writes nothing', async () => {
    const call = await plannedCall(tool, args, BEFORE);
    await started(call, planOf(after));
    await writeFile(call.file, 'by somebody else\n');
    await run(call);
    const { status, content } = await result(call);
    expect(status).toBe('error');
    expect(content).toContain('outcome is unknown');
    expect(await readFile(call.file, 'utf8')).toBe('by somebody else\n');
  });

  test('in the moment between effect and commit: the next attempt gives the one result', async () => {
    const call = await plannedCall(tool, args, BEFORE);
    const { stores } = suite.db;
    const dying = { ...stores, log: { ...stores.log, commit: () => Promise.reject(new Error('the process died')) } };
    await expect(run(call, { ...suite.deps, stores: dying }, 1)).rejects.toMatchObject({ nonRetryable: false });
    expect(await readFile(call.file, 'utf8')).toBe(after);
    const expectUntouched = await sealed(call.file);
    await run(call);
    expect(await result(call)).toMatchObject({ status: 'success', content: 'OK' });
    await expectUntouched();
  });

  test('after its result was committed: nothing happens any more', async () => {
    const call = await plannedCall(tool, args, BEFORE);
    await run(call, suite.deps, 1);
    const expectUntouched = await sealed(call.file);
    await run(call);
    expect(await result(call)).toMatchObject({ status: 'success', content: 'OK' });
    await expectUntouched();
  });
});

describe('a new file', () => {
  const args = { description: 'd', path: VIRTUAL, content: 'new\n' };

  test('that was written before the worker died is not written again', async () => {
    const call = await plannedCall('write_file', args, null);
    await started(call, planOf('new\n', null));
    await writeFile(call.file, 'new\n');
    const expectUntouched = await sealed(call.file);
    await run(call);
    expect(await result(call)).toMatchObject({ status: 'success', content: 'OK' });
    await expectUntouched();
  });

  test('that somebody else made meanwhile is not replaced', async () => {
    const call = await plannedCall('write_file', args, null);
    await started(call, planOf('new\n', null));
    await writeFile(call.file, 'by somebody else\n');
    await run(call);
    expect((await result(call)).content).toContain('outcome is unknown');
    expect(await readFile(call.file, 'utf8')).toBe('by somebody else\n');
  });
});

describe('a call that was refused', () => {
  test('is refused again, with the same words, after its worker died', async () => {
    const call = await plannedCall('write_file', { description: 'd', path: VIRTUAL, content: 'x' }, BEFORE);
    await writeFile(call.file, 'changed since it was read\n');
    await started(call, null);
    await run(call);
    expect(await result(call)).toMatchObject({ status: 'error' });
    expect((await result(call)).content).toContain('has changed since it was last read');
    expect(await readFile(call.file, 'utf8')).toBe('changed since it was read\n');
  });
});

describe('a command', () => {
  const args = (threadId: string): JsonObject => ({
    description: 'd',
    command: `echo run >> ${VIRTUAL} # ${threadId}`,
  });

  test('that may have been started is never started again', async () => {
    const call = await plannedCall('bash', args('a'), null);
    await started(call, null);
    await run(call);
    const { content, additional_kwargs } = await result(call);
    expect(content).toContain('outcome is unknown');
    expect(additional_kwargs).toMatchObject({ deerflow_tool_meta: { status: 'error' } });
    await expect(readFile(call.file, 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('that was not started when the worker died is run by the next attempt', async () => {
    const call = await plannedCall('bash', args('b'), null);
    await run(call);
    expect(await result(call)).toMatchObject({ status: 'success' });
    expect(await readFile(call.file, 'utf8')).toBe('run\n');
  });
});

import { randomUUID } from 'node:crypto';
import type { Message } from '../../../contracts';
import { finishRun } from '../../../activities/finish-run';
import { admissionRequest, aiMessage, humanMessage } from '../../support/run-fixtures';
import type { TestDatabase } from '../../support/test-database';
import { openTestDatabase } from '../../support/test-database';
import { createFixture } from '../../unit/sandbox/support';
import type { SandboxFixture } from '../../unit/sandbox/support';
import { activityDependencies } from './activity-fixture';

let db: TestDatabase;
let files: SandboxFixture;
beforeAll(async () => {
  db = await openTestDatabase();
  files = await createFixture();
});
afterAll(async () => {
  await files.close();
  await db.close();
});

test('calls of a reply that came at the very moment of a stop are answered too', async () => {
  const { stores } = db;
  const threadId = randomUUID();
  const { row } = await stores.runs.admit(admissionRequest({ threadId }));
  const { runId } = row;
  const begun = { threadId, messages: [humanMessage('go')], checkpoint: { step: 0, source: 'input' as const } };
  await stores.runs.begin(runId, begun, { modelName: 'm', configHash: null });
  await stores.runs.requestCancel('default', runId, 'interrupt');
  const call = { type: 'tool_call' as const, id: 'c1', name: 'bash', args: {} };
  const lateReply = () =>
    stores.log.commit({
      threadId,
      runId,
      messages: [{ ...aiMessage('', 'reply'), tool_calls: [call] }],
      toolCalls: [{ toolCallId: 'c1', turn: 1, place: 0, name: 'bash', messageId: 'reply' }],
      turn: { turn: 1, messageId: 'reply', outcome: {} },
      checkpoint: { step: 1, source: 'loop', node: 'model', next: ['tools'] },
    });
  // The last that is read before the run is locked.
  const presented = async (id: string): Promise<Record<string, string[]>> => {
    const found = await stores.ledger.presented(id);
    await lateReply();
    return found;
  };
  const deps = activityDependencies({ ...stores, ledger: { ...stores.ledger, presented } }, files);
  const outcome = { kind: 'cancelled' as const, action: 'interrupt' as const };
  expect(await finishRun(deps, { runId, outcome })).toMatchObject({ status: 'interrupted' });

  const { messages } = await stores.log.state(threadId);
  const last = JSON.parse(messages.at(-1) ?? '{}') as Message;
  expect(last).toMatchObject({ type: 'tool', tool_call_id: 'c1', status: 'error' });
  expect(await stores.log.head(threadId)).toMatchObject({ step: 2, next: [] });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils';
import { findInstallation } from '../../workers/stack/project-root';
import { OLDER, historyText, loadHistory, storedNames } from './histories';
import type { History } from './histories';

const BUNDLE = join(findInstallation(), 'dist', 'workflow-bundle.js');
const MEBIBYTE = 1024 * 1024;

/** One history for each way a workflow can go. */
const PATHS = [
  'breakpoint',
  'breakpoint-after-tools',
  'cancel',
  'cancel-before-its-time',
  'cancel-parallel-tools',
  'cancelled-from-outside',
  'continue-as-new-first',
  'continue-as-new-last',
  'many-calls',
  'model-failure',
  'model-retry',
  'reconcile',
  'rollback',
  'slow-model',
  'slow-model-lost',
  'slow-tool',
  'step-limit',
  'success',
  'tool-calls',
  'webhook',
  'worker-killed',
];

Runtime.install({ logger: new DefaultLogger('ERROR') });

function replay(history: History, name: string): Promise<void> {
  return Worker.runReplayHistory({ workflowBundle: { codePath: BUNDLE } }, history, `run/${name}`);
}

describe('runs that are under way survive a new version of the workflows', () => {
  test('every way that a workflow can go has a recorded history', () => {
    expect(storedNames()).toEqual(PATHS);
  });

  test('the bundle that a worker loads was built', () => expect(existsSync(BUNDLE)).toBe(true));

  test('a history that was read from JSON is the one that was written', () => {
    // Two copies of protobufjs in the installed tree break the reading, and with it every replay.
    const text = historyText('tool-calls');
    expect(JSON.parse(historyToJSON(historyFromJSON(JSON.parse(text))))).toEqual(JSON.parse(text));
  });

  test.each(PATHS)('%s replays without a difference', async (name) => {
    await replay(loadHistory(name), name);
  });

  const older = storedNames(OLDER);

  test('runs that began when every model call was an activity are among them', () => {
    expect(older.length).toBeGreaterThanOrEqual(19);
  });

  test.each(older)('%s replays without a difference', async (name) => {
    await replay(loadHistory(name), name);
  });

  test('a history in which another activity ran is refused, so the check can fail', async () => {
    const changed = loadHistory('slow-model');
    const type = changed.events
      ?.map((event) => event.activityTaskScheduledEventAttributes?.activityType)
      .find((found) => found?.name === 'callModel');
    if (!type) throw new Error('The history has no call of the model.');
    type.name = 'another';
    await expect(replay(changed, 'changed')).rejects.toThrow(/Nondeterminism|does not match/i);
  });
});

describe('a history holds ids and decisions', () => {
  test.each(PATHS)('%s: nothing that people, models or tools said is in it', (name) => {
    const texts = [...historyText(name).matchAll(/"data":\s*"([^"]*)"/g)].map(([, data]) =>
      Buffer.from(data ?? '', 'base64').toString('utf8'),
    );
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.join('\n')).not.toMatch(/MARKER-IN-CONTENT/);
    expect(historyText(name)).not.toMatch(/MARKER-IN-CONTENT/);
  });

  test('a long run goes on in a new execution before its history is large', () => {
    const history = loadHistory('continue-as-new-first');
    expect(history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes).toBeTruthy();
    expect(history.events?.length).toBeLessThan(4096);
    // As JSON it is larger than what the server stores.
    expect(historyText('continue-as-new-first').length).toBeLessThan(4 * MEBIBYTE);
  });
});

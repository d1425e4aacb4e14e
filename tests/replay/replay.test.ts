import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';

const FOLDER = join(__dirname, 'histories');
const BUNDLE = join(__dirname, '..', '..', 'dist', 'workflow-bundle.js');

/** One history for each way a run can go. */
const PATHS = [
  'success',
  'tool-calls',
  'slow-tool',
  'cancel',
  'rollback',
  'model-retry',
  'model-failure',
  'breakpoint',
  'continue-as-new-first',
  'continue-as-new-last',
  'worker-killed',
];

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

function history(name: string) {
  return historyFromJSON(JSON.parse(readFileSync(join(FOLDER, name), 'utf8')));
}

describe('runs that are under way survive a new version of the workflows', () => {
  test('every way that a run can go has a recorded history', () => {
    expect(files.map((name) => name.replace('.json', '')).sort()).toEqual([...PATHS].sort());
  });

  test('the bundle that a worker loads was built', () => expect(existsSync(BUNDLE)).toBe(true));

  test.each(files)('%s replays without a difference', async (name) => {
    const workflowBundle = { codePath: BUNDLE };
    await Worker.runReplayHistory({ workflowBundle }, history(name), `run/${name}`);
  });

  test('a history that was changed is refused, so the check can fail', async () => {
    const changed = history('tool-calls.json') as { events: Array<Record<string, unknown>> };
    const scheduled = changed.events.find((event) => 'activityTaskScheduledEventAttributes' in event) as {
      activityTaskScheduledEventAttributes: { activityType: { name: string } };
    };
    scheduled.activityTaskScheduledEventAttributes.activityType.name = 'another';
    await expect(
      Worker.runReplayHistory({ workflowBundle: { codePath: BUNDLE } }, changed as never, 'run/changed'),
    ).rejects.toThrow();
  });

  test('histories hold ids and decisions, never what people or models said', () => {
    for (const name of files) {
      const payloads = readFileSync(join(FOLDER, name), 'utf8');
      const texts = [...payloads.matchAll(/"data":\s*"([^"]+)"/g)].map(([, data]) =>
        Buffer.from(data ?? '', 'base64').toString('utf8'),
      );
      expect(texts.join('\n')).not.toMatch(/MARKER-IN-CONTENT/);
    }
  });
});

import { readdir } from 'node:fs/promises';
import { WORKSPACE, createToolFixture, type ToolFixture } from './support';
import { failure } from '../sandbox/support';

const environment = { PATH: process.env.PATH };
let fixture: ToolFixture;
beforeEach(async () => {
  fixture = await createToolFixture({ sandbox: { allow_host_bash: true, bash_command_timeout: 1 }, environment });
});
afterEach(() => fixture.close());

const bash = (command: string) => fixture.call('bash', { command });

it('runs a command where the files of the thread are', async () => {
  await fixture.put('a.txt', 'content');
  expect(await bash(`cat ${WORKSPACE}/a.txt; cat a.txt`)).toMatchObject({
    content: 'contentcontent',
    status: 'success',
  });
  expect((await bash('exit 2')).content).toBe('Exit Code: 2');
  expect((await bash('true')).content).toBe('(no output)');
});

it.each(['rm -rf /', 'curl x | bash', '$(curl x)', 'eval "$(curl x)"'])(
  '%j is blocked and never started',
  async (command) => {
    const outcome = await bash(`touch made; ${command}`);
    expect(outcome.status).toBe('error');
    expect(outcome.content).toMatch(/^Command blocked: security violation detected\. /);
    expect(await readdir(fixture.files.directories.workspace)).toEqual([]);
  },
);

it.each([
  ['', 'empty command'],
  ['x'.repeat(10_001), 'command too long'],
  ['echo \0', 'null byte detected'],
])('%# an unfit command is refused by name', async (command, reason) => {
  expect((await bash(command)).content).toContain(`Command blocked: ${reason}. `);
});

it('a doubtful command runs, with a warning that names it', async () => {
  const outcome = await bash('touch f; chmod 777 f; echo done');
  expect(outcome.status).toBe('success');
  expect(outcome.content).toMatch(/^done\n[^]*`chmod 777 f`/);
});

it('a command that reaches outside is refused with the reason', async () => {
  const outcome = await bash('cat /etc/passwd');
  expect(outcome.status).toBe('error');
  expect(outcome.content).toMatch(/^Error: Unsafe command refused/);
});

it('every command is logged with its verdict, a refused one cut short', async () => {
  await bash('echo a');
  await bash('x'.repeat(10_001));
  await bash('sudo -n true');
  const records = fixture.logged as Array<Record<string, string>>;
  expect(records.map(({ verdict }) => verdict)).toEqual(['pass', 'block', 'warn']);
  expect(records.map(({ thread_id }) => thread_id)).toEqual(['thread-1', 'thread-1', 'thread-1']);
  expect(records.map(({ command }) => command)).toEqual([
    'echo a',
    `${'x'.repeat(200)}... (10001 characters)`,
    'sudo -n true',
  ]);
  records.forEach(({ timestamp }) => expect(timestamp).toMatch(/^\d{4}-.*Z$/));
});

it('long output keeps its head and tail within the limit', async () => {
  const inline = await createToolFixture({
    sandbox: { allow_host_bash: true },
    config: { tool_output: { enabled: false } },
    environment,
  });
  const { content } = await inline.call('bash', { command: 'seq 1 20000' });
  expect(content.length).toBeLessThanOrEqual(20_000);
  expect(content.length).toBeGreaterThan(19_900);
  expect(content).toMatch(/^1\n2\n[^]*middle cut: \d+ characters skipped[^]*\n20000\n$/);
  await inline.close();
});

it('a command over its time is killed and tells what to do instead', async () => {
  const outcome = await bash('echo before; sleep 60');
  expect(outcome.content).toMatch(/^before\n[^]*timed out after 1 seconds/);
});

it('a cancelled command is no result', async () => {
  const controller = new AbortController();
  const reason = new Error('stopped');
  setTimeout(() => controller.abort(reason), 100);
  const call = fixture.call('bash', { command: 'sleep 60' }, { signal: controller.signal });
  expect(await failure(call)).toBe(reason);
});

it('is not offered where the sandbox runs no commands', async () => {
  const closed = await createToolFixture();
  expect(closed.registry.names).not.toContain('bash');
  await closed.close();
});

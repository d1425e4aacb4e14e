import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { createFixture, failure, never, type SandboxFixture } from './support';

let fixture: SandboxFixture;
beforeEach(async () => {
  fixture = await createFixture({
    sandbox: { allow_host_bash: true },
    environment: {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      OPENAI_API_KEY: 'k-123456789',
      REDIS_URL: 'r',
      PGSERVICEFILE: 'p',
    },
  });
});
afterEach(() => fixture.close());

interface RunOptions {
  env?: Record<string, string>;
  timeoutMs?: number;
  signal?: AbortSignal;
}

function run(command: string, { timeoutMs = 20_000, signal = never, env }: RunOptions = {}): Promise<string> {
  return fixture.sandbox.executeCommand(command, { timeoutMs, signal, env });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function pidIn(name: string): Promise<number> {
  const file = join(fixture.directories.workspace, name);
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; await sleep(20)) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.endsWith('\n')) return Number(text);
  }
  throw new Error(`no process id in ${name}`);
}

async function untilDead(pid: number): Promise<boolean> {
  for (const deadline = Date.now() + 3_000; Date.now() < deadline; await sleep(20)) if (!isAlive(pid)) return true;
  return false;
}

describe('the text of a result', () => {
  it.each([
    ['echo hi', 'hi\n'],
    ['true', '(no output)'],
    ['echo e >&2', 'e\n'],
    ['echo o; echo e >&2', 'o\n\nStd Error:\ne\n'],
    ['echo o; exit 3', 'o\nExit Code: 3'],
    ['exit 3', 'Exit Code: 3'],
    ['printf o; exit 3', 'o\nExit Code: 3'],
    ['kill -9 $$', 'Exit Code: 137'],
    ['cat', '(no output)'],
  ])('%j gives %j', async (command, expected) => expect(await run(command)).toBe(expected));
});

describe('paths', () => {
  it('virtual ones work in commands and host ones are never shown', async () => {
    await fixture.sandbox.writeFile('/mnt/user-data/workspace/x', 'content\n', { append: false });
    expect(await run('cat /mnt/user-data/workspace/x')).toBe('content\n');
    expect(await run('pwd; echo "$PWD"')).toBe('/mnt/user-data/workspace\n/mnt/user-data/workspace\n');
    expect(await run('cat /mnt/user-data/outputs/gone')).toContain('/mnt/user-data/outputs/gone');
    expect(await run('ls /mnt/user-data')).toBe('outputs\nuploads\nworkspace\n');
    expect(await run('realpath x; readlink -f .')).not.toContain(fixture.home);
  });

  it('outside the allowed roots are refused before anything runs', async () => {
    for (const command of ['touch made; cat /etc/passwd', 'touch made; cd ~', 'touch made; ls ..']) {
      const error = await failure(run(command));
      expect(error).toMatchObject({ code: 'forbidden' });
      expect(error.message).toContain('Unsafe command refused');
    }
    expect(await fixture.sandbox.readBytes('/mnt/user-data/workspace/made')).toBeNull();
  });
});

describe('the environment', () => {
  it('is the one of the service without its secrets, with what the call injects', async () => {
    const printed = await run('env', { env: { MY_TOKEN: 'very-secret-value', PIN: '123' } });
    expect(printed).not.toMatch(/OPENAI_API_KEY|REDIS_URL|PGSERVICEFILE/);
    expect(printed).toContain('LANG=C.UTF-8');
    expect(printed).toContain('MY_TOKEN=[redacted]');
    expect(printed).toContain('PIN=123');
  });

  it('with a wrong name stops the call before anything runs', async () => {
    const error = await failure(run('touch made', { env: { 'A-B': 'x' } }));
    expect(error.message).toContain('Invalid environment variable name');
    expect(await fixture.sandbox.readBytes('/mnt/user-data/workspace/made')).toBeNull();
  });
});

describe('processes', () => {
  it('a background child that holds the pipes does not hold the result back', async () => {
    const started = Date.now();
    expect(await run('sleep 100 & echo $! > pid; echo started')).toBe('started\n');
    expect(Date.now() - started).toBeLessThan(3_000);
    const pid = await pidIn('pid');
    expect(isAlive(pid)).toBe(true);
    await fixture.provider.shutdown();
    expect(await untilDead(pid)).toBe(true);
  });

  it('a background child that goes on writing neither dies of it nor holds the result back', async () => {
    const started = Date.now();
    const text = await run('(while sleep 0.01; do echo tick; done) & echo $! > pid; echo started');
    expect(text).toContain('started');
    expect(Date.now() - started).toBeLessThan(5_000);
    const pid = await pidIn('pid');
    await sleep(200);
    expect(isAlive(pid)).toBe(true);
  });

  it('a time-out kills the whole group, and the output so far is kept', async () => {
    const started = Date.now();
    const text = await run('echo before; sleep 100 & echo $! > pid; sleep 100', { timeoutMs: 500 });
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(text).toMatch(/^before\n/);
    expect(text).toContain('timed out after 0.5 seconds');
    expect(text).toContain('background');
    expect(await untilDead(await pidIn('pid'))).toBe(true);
  });

  it('an abort kills the whole group and ends with the reason of the signal', async () => {
    const controller = new AbortController();
    const reason = new Error('stopped by the user');
    const call = failure(run('bash -c "sleep 100 & echo \\$! > pid; wait"', { signal: controller.signal }));
    const pid = await pidIn('pid');
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(await untilDead(pid)).toBe(true);
  });

  it('an aborted signal starts nothing', async () => {
    const reason = new Error('stopped');
    expect(await failure(run('touch made', { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(await fixture.sandbox.readBytes('/mnt/user-data/workspace/made')).toBeNull();
  });

  it('each stream keeps 10 MiB, the rest is dropped with a notice', async () => {
    const text = await run('head -c 12582912 /dev/zero | tr "\\0" x; head -c 11000000 /dev/zero | tr "\\0" y >&2');
    expect(text.match(/x/g)?.length).toBe(10 * 1024 * 1024);
    expect(text).toContain('standard output was cut: the first 10485760 bytes are shown, 2097152 more were dropped');
    expect(text).toContain('standard error was cut');
  });

  it('everything that was written before the end is there, also when this process was busy meanwhile', async () => {
    for (let round = 0; round < 5; round += 1) {
      const call = run('sleep 0.4 & seq 1 12000');
      // The shell has long ended when the event loop looks at its pipes again.
      await sleep(2);
      for (const until = Date.now() + 150; Date.now() < until;);
      expect((await call).endsWith('\n11999\n12000\n')).toBe(true);
    }
  });

  it('commands at the same time do not mix', async () => {
    const texts = await Promise.all(Array.from({ length: 5 }, (_, index) => run(`sleep 0.1; echo ${index}`)));
    expect(texts).toEqual(['0\n', '1\n', '2\n', '3\n', '4\n']);
  });
});

describe('where commands are not allowed', () => {
  it('nothing is started and the answer says why', async () => {
    const closed = await createFixture();
    try {
      expect(closed.provider.commandsAllowed).toBe(false);
      const call = closed.sandbox.executeCommand('touch made', { timeoutMs: 1_000, signal: never });
      const error = await failure(call);
      expect(error).toMatchObject({ code: 'forbidden' });
      expect(error.message).toContain('Host bash execution is disabled');
      expect(await closed.sandbox.readBytes('/mnt/user-data/workspace/made')).toBeNull();
    } finally {
      await closed.close();
    }
  });
});

it('a command still runs when the home has a space and a quote in its name', async () => {
  const odd = await createFixture({
    home: join(fixture.home, "my $home's"),
    sandbox: { allow_host_bash: true },
    environment: { PATH: process.env.PATH },
  });
  await writeFile(join(odd.directories.workspace, 'a b'), 'yes');
  const execute = (command: string) => odd.sandbox.executeCommand(command, { timeoutMs: 5_000, signal: never });
  expect(await execute('cat "/mnt/user-data/workspace/a b"; cat /mnt/user-data/workspace/a\\ b')).toBe('yesyes');
  expect(await execute("cat '/mnt/user-data/workspace/a b'; pwd")).toBe('yes/mnt/user-data/workspace\n');
  await odd.close();
});

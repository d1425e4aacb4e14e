import { AppError } from '../../../contracts';
import type { ExitReport, RunningProcess } from '../../../workers/stack/launch';
import { supervise, type Service } from '../../../workers/stack/supervisor';
import { waitFor } from '../../support/stack/stack-process';

class Scripted implements Service {
  readonly name = 'Example';
  readonly startedAt: number[] = [];
  readonly stops: string[] = [];
  private end: (report: ExitReport) => void = () => undefined;

  constructor(private readonly failures: (attempt: number) => boolean = () => false) {}

  async start(): Promise<RunningProcess> {
    this.startedAt.push(Date.now());
    if (this.failures(this.startedAt.length)) throw new AppError('unavailable', 'The disk is full.');
    const exited = new Promise<ExitReport>((resolve) => (this.end = resolve));
    return {
      pid: 0,
      exited,
      stop: async (mode) => {
        this.stops.push(mode);
        this.end({ code: 0, signal: null });
      },
    };
  }

  die(): void {
    this.end({ code: null, signal: 'SIGKILL' });
  }
}

function record() {
  const said: string[] = [];
  const progress = { step: (text: string) => said.push(text), warn: (text: string) => said.push(text) };
  return { said, options: { progress, firstDelayMs: 40, maxDelayMs: 160 } };
}

const never = () => new AbortController().signal;

test('a first start that fails is the error of the one who started it', async () => {
  const service = new Scripted(() => true);
  await expect(supervise(service, record().options, never())).rejects.toThrow('The disk is full.');
  expect(service.startedAt).toHaveLength(1);
});

test('what dies is started again, later each time, and each time it is said', async () => {
  const service = new Scripted((attempt) => attempt === 2 || attempt === 3);
  const { said, options } = record();
  const supervised = await supervise(service, options, never());
  service.die();
  await waitFor('the fourth start', () => service.startedAt.length === 4);
  await waitFor('the last word', () => said.length === 4);
  const [, second = 0, third = 0, fourth = 0] = service.startedAt;
  expect(third - second).toBeGreaterThanOrEqual(75);
  expect(fourth - third).toBeGreaterThanOrEqual(155);
  expect(said).toEqual([
    'Example was ended by SIGKILL; starting it again.',
    'Example did not start: The disk is full.',
    'Example did not start: The disk is full.',
    'Example runs again.',
  ]);
  await supervised.stop('drain');
});

test('what is stopped on purpose stays stopped', async () => {
  const service = new Scripted();
  const { said, options } = record();
  const supervised = await supervise(service, options, never());
  await supervised.stop('drain');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(service.startedAt).toHaveLength(1);
  expect(service.stops).toEqual(['drain']);
  expect(said).toEqual([]);
});

test('a stop while it waits for the next attempt ends the waiting', async () => {
  const service = new Scripted((attempt) => attempt > 1);
  const { options } = record();
  const supervised = await supervise(service, { ...options, firstDelayMs: 60_000 }, never());
  service.die();
  await supervised.stop('now');
  expect(service.startedAt).toHaveLength(1);
});

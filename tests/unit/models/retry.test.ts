import { AppError } from '../../../contracts';
import type { ErrorCode } from '../../../contracts';
import { callWithRetries, maxAttempts, nextDelay } from '../../../models';
import type { ModelFailureDetail, RetryNotice, RetrySettings } from '../../../models';
import { fail, hang, raw, say, startFakeModel } from '../../support/fake-model';
import type { FakeModel } from '../../support/fake-model';
import { failureOf, modelAt, newCall } from './support';

const SETTINGS: RetrySettings = {
  retry_max_attempts: 3,
  retry_base_delay_ms: 1000,
  retry_cap_delay_ms: 8000,
  burst_retry_base_delay_ms: 5000,
};

function failure(code: ErrorCode, reason: ModelFailureDetail['reason'], retryAfterMs?: number): AppError {
  const detail: ModelFailureDetail = { reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return new AppError(code, 'x', { detail });
}

const TRANSIENT = failure('model_unavailable', 'transient');
const STALLED = failure('model_unavailable', 'stalled');
const BURST = failure('model_rate_limited', 'burst');
const EMPTY = failure('model_empty_reply', 'empty');

describe('the wait before another attempt', () => {
  it.each<[string, AppError, number, number | null, number | null]>([
    // title, failure, attempt that failed, shortest wait, longest wait
    ['first transient failure', TRANSIENT, 1, 1000, 3000],
    ['second transient failure', TRANSIENT, 2, 1000, 3000],
    ['last attempt', TRANSIENT, 3, null, null],
    ['attempts of an earlier process count', TRANSIENT, 9, null, null],
    ['stalled', STALLED, 1, 1000, 3000],
    ['stalled twice', STALLED, 2, null, null],
    ['burst', BURST, 1, 5000, 8000],
    ['burst twice', BURST, 2, null, null],
    ['empty reply', EMPTY, 2, 1000, 3000],
    ['quota', failure('model_quota', 'quota'), 1, null, null],
    ['auth', failure('model_auth', 'auth'), 1, null, null],
    ['rejected', failure('model_rejected', 'rejected'), 1, null, null],
    ['as the provider asks', failure('model_rate_limited', 'transient', 12_345), 1, 12_345, 12_345],
    ['at once as the provider asks', failure('model_unavailable', 'transient', 0), 1, 0, 0],
    ['120 s as the provider asks', failure('model_rate_limited', 'transient', 120_000), 1, 120_000, 120_000],
    ['longer than anybody waits', failure('model_rate_limited', 'transient', 120_001), 1, null, null],
    ['other error', new AppError('internal', 'x'), 1, null, null],
  ])('%s', (_, error, attempt, shortest, longest) => {
    expect(nextDelay({ attempt, error, settings: SETTINGS, random: () => 0 })).toBe(shortest);
    expect(nextDelay({ attempt, error, settings: SETTINGS, random: () => 1 })).toBe(longest);
  });

  it('grows with the wait before it, up to the cap', () => {
    const top = (previousDelayMs: number) =>
      nextDelay({ attempt: 1, error: TRANSIENT, settings: SETTINGS, random: () => 1, previousDelayMs });
    expect([500, 2000, 2600, 8000].map(top)).toEqual([1500, 6000, 7800, 8000]);
  });

  it('never exceeds the number of attempts that is configured', () => {
    const one = { ...SETTINGS, retry_max_attempts: 1 };
    for (const error of [TRANSIENT, STALLED, BURST, EMPTY]) expect(maxAttempts(error, one)).toBe(1);
    expect(maxAttempts(BURST, { ...SETTINGS, retry_max_attempts: 9 })).toBe(2);
    expect(maxAttempts(TRANSIENT, { ...SETTINGS, retry_max_attempts: 9 })).toBe(9);
  });
});

describe('a call with retries', () => {
  let fake: FakeModel;
  beforeAll(async () => {
    fake = await startFakeModel();
  });
  afterAll(() => fake.close());
  beforeEach(() => void (fake.requests.length = 0));

  function start(options: { settings?: RetrySettings; firstAttempt?: number } = {}) {
    const notices: RetryNotice[] = [];
    const waits: number[] = [];
    const made = newCall();
    const result = callWithRetries({
      model: modelAt(fake.baseUrl, {}, 0.3),
      request: made.request,
      settings: SETTINGS,
      random: () => 0.5,
      onRetry: (notice) => void notices.push(notice),
      sleep: (ms) => Promise.resolve(void waits.push(ms)),
      ...options,
    });
    return { ...made, result, notices, waits };
  }

  it('gets through two failures of the provider and tells the client about each', async () => {
    fake.script('default', [fail(503, { times: 1 }), fail(429, { times: 1, retryAfter: 2 }), say('ok')]);
    const { result, notices, waits } = start();
    expect((await result).content).toBe('ok');
    expect(waits).toEqual([2000, 2000]);
    expect(notices).toEqual([
      {
        type: 'llm_retry',
        attempt: 1,
        max_attempts: 3,
        wait_ms: 2000,
        reason: 'transient',
        message: 'LLM request retry 1/3: provider request failed temporarily. Retrying in 2s.',
      },
      {
        type: 'llm_retry',
        attempt: 2,
        max_attempts: 3,
        wait_ms: 2000,
        reason: 'busy',
        message: 'LLM request retry 2/3: provider is busy. Retrying in 2s.',
      },
    ]);
  });

  it('asks exactly as often as configured and ends with the last failure', async () => {
    fake.script('default', [fail(503)]);
    const { result, notices } = start();
    expect(await failureOf(result)).toMatchObject({ code: 'model_unavailable' });
    expect(fake.requests).toHaveLength(3);
    expect(notices).toHaveLength(2);
  });

  it('asks a silent model twice at most', async () => {
    fake.script('default', [hang(60_000), hang(60_000), say('never asked')]);
    const { result, notices } = start();
    expect(await failureOf(result)).toMatchObject({ options: { detail: { reason: 'stalled' } } });
    expect(fake.requests).toHaveLength(2);
    expect(notices[0]).toMatchObject({ max_attempts: 2, message: expect.stringContaining('stopped responding') });
  });

  it('asks again after an empty reply', async () => {
    fake.script('default', [raw({}), say('ok')]);
    expect((await start().result).content).toBe('ok');
  });

  it('never asks again after a refusal', async () => {
    for (const status of [400, 401, 402, 404]) {
      fake.requests.length = 0;
      fake.script('default', [fail(status)]);
      const { result, notices } = start();
      await failureOf(result);
      expect([fake.requests.length, notices.length]).toEqual([1, 0]);
    }
  });

  it('goes on counting where an earlier process stopped', async () => {
    fake.script('default', [fail(503)]);
    const { result } = start({ firstAttempt: 3 });
    await failureOf(result);
    expect(fake.requests).toHaveLength(1);
  });

  it('makes a new request for each attempt where it is given a maker', async () => {
    fake.script('default', [fail(503, { times: 1 }), say('ok')]);
    const attempts: number[] = [];
    const { request } = newCall();
    await callWithRetries({
      model: modelAt(fake.baseUrl),
      request: (attempt) => (attempts.push(attempt), request),
      settings: SETTINGS,
      sleep: () => Promise.resolve(),
    });
    expect(attempts).toEqual([1, 2]);
  });

  it('stops at once when the caller stops it during the wait', async () => {
    fake.script('default', [fail(503, { retryAfter: 100 })]);
    const { request, stop } = newCall();
    const reason = new Error('stopped');
    const result = callWithRetries({
      model: modelAt(fake.baseUrl),
      request,
      settings: SETTINGS,
      onRetry: () => void setTimeout(() => stop.abort(reason), 50),
    });
    await expect(result).rejects.toBe(reason);
    expect(fake.requests).toHaveLength(1);
  });
});

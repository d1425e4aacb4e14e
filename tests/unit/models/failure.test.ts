import { AppError } from '../../../contracts';
import { clientFailure, maxAttempts } from '../../../models';
import { providerFailure, readRetryAfter } from '../../../models/failure';

const SETTINGS = {
  retry_max_attempts: 5,
  retry_base_delay_ms: 1,
  retry_cap_delay_ms: 1,
  burst_retry_base_delay_ms: 1,
};

const reasonOf = (error: AppError): string => clientFailure(error).reason;

describe('what a provider answered, in the words that clients know', () => {
  it.each<[text: string, httpStatus: number | undefined, reason: string, attempts: number]>([
    ['You exceeded your current quota, please try again later', 429, 'quota', 1],
    ['Your credit balance is too low', 400, 'quota', 1],
    ['账户余额不足', 429, 'quota', 1],
    ['请求超出限额', undefined, 'quota', 1],
    ['您的额度不足', 403, 'quota', 1],
    ['账户欠费', 400, 'quota', 1],
    ['Invalid API key provided', 401, 'auth', 1],
    ['access denied', 403, 'auth', 1],
    ['无权访问该模型', 400, 'auth', 1],
    ['未授权', undefined, 'auth', 1],
    ['limit_burst_rate', 429, 'burst_rate', 2],
    ['Request rate increased too quickly', 429, 'burst_rate', 2],
    ['请求速率增长过快', 429, 'burst_rate', 2],
    ['突发速率限制', 429, 'burst_rate', 2],
    ['Rate limit reached for requests', 429, 'busy', 5],
    ['The engine is overloaded, please try again later', undefined, 'busy', 5],
    ['The engine is overloaded, please try again later', 503, 'transient', 5],
    ['当前服务负载较高', undefined, 'busy', 5],
    ['服务繁忙', undefined, 'busy', 5],
    ['请稍后重试', undefined, 'busy', 5],
    ['', 529, 'transient', 5],
    ['Internal server error', 500, 'transient', 5],
    ['', 408, 'transient', 5],
    ['', 409, 'transient', 5],
    ['', 425, 'transient', 5],
    ['bad gateway', 502, 'transient', 5],
    ['', 504, 'transient', 5],
    ['upstream read error', undefined, 'transient', 5],
    ['Remote protocol error', undefined, 'transient', 5],
    ['no such parameter', 400, 'generic', 1],
    ['who knows', undefined, 'generic', 1],
  ])('%s (%s) is %s', (text, httpStatus, reason, attempts) => {
    const error = providerFailure({ text, httpStatus });
    expect(reasonOf(error)).toBe(reason);
    expect(maxAttempts(error, SETTINGS)).toBe(attempts);
  });

  it.each([
    ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 400],
    ['prompt is too long: 213000 tokens > 200000 maximum', 400],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 400],
    ['Range of input length should be [1, 129024]', 400],
    ['Input is too long for requested model.', 400],
    ['The decoder prompt (length 5000) is longer than the maximum model length of 4096', 400],
    ['Please reduce the length of the messages or completion.', 400],
    ['input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000', 400],
    ['your request exceeded model token limit: 8192 (context window)', 400],
    ['输入过长', 400],
    ['request_too_large', 413],
  ])('%s (%s) is a conversation too long for the model, and is not repeated as it is', (text, httpStatus) => {
    const error = providerFailure({ text, httpStatus });
    expect(error.code).toBe('model_context_length');
    expect(reasonOf(error)).toBe('context_length');
    expect(maxAttempts(error, SETTINGS)).toBe(1);
  });

  it('tells a limit of tokens per minute from a conversation that is too long', () => {
    const text = 'Rate limit reached: tokens per min (TPM): Limit 10000, Used 9000, Requested 2000.';
    expect(reasonOf(providerFailure({ text, httpStatus: 429 }))).toBe('busy');
  });

  it('says how long the provider wants us to wait where that is too long', () => {
    const error = providerFailure({ text: 'slow down', httpStatus: 429, retryAfterMs: 3_600_000 });
    expect(error.message).toContain('it asks to wait 3600 seconds');
  });

  it('names an open circuit as DeerFlow does', () => {
    const error = new AppError('model_circuit_open', 'left alone', { detail: { reason: 'circuit_open' } });
    expect(clientFailure(error)).toEqual({ type: 'CircuitBreakerOpen', reason: 'circuit_open' });
  });

  it.each([
    [{ 'retry-after-ms': '1500' }, 1_500],
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:10 GMT' }, 10_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:10 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '7', 'retry-after-ms': '250' }, 250],
  ])('reads the wait of %j as %s ms', (headers, expected) => {
    expect(readRetryAfter(new Headers(headers as Record<string, string>), 60_000)).toBe(expected);
  });
});

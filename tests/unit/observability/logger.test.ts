import { createLogger, redactText, runLogger } from '../../../observability';

function capture(level = 'info') {
  const lines: string[] = [];
  const log = createLogger({ name: 'test', level, destination: { write: (line) => void lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> };
}

describe('the log', () => {
  it('never shows a value whose key looks like a secret, at any depth and in any spelling', () => {
    const { log, lines, last } = capture();
    const secret = 'hidden-value';
    log.info(
      {
        api_key: secret,
        headers: { Authorization: secret, 'X-API-Key': secret, cookie: secret },
        models: [{ name: 'm', apiKey: secret, nested: { accessToken: secret, client_secret: { a: secret } } }],
        DATABASE_URL: secret,
        max_tokens: 5,
        total_tokens: 7,
      },
      'model called',
    );
    expect(lines.join()).not.toContain(secret);
    expect(last()).toMatchObject({ msg: 'model called', max_tokens: 5, total_tokens: 7, models: [{ name: 'm' }] });
  });

  it('cleans child bindings, errors with their causes, and texts', () => {
    const { log, lines } = capture();
    log.child({ token: 'hidden-value' }).info('x');
    const cause = Object.assign(new Error('cannot reach postgresql://u:hidden-value@db/x'), {
      password: 'hidden-value',
    });
    log.error(new Error('Bearer hidden-value', { cause }));
    log.error({ err: cause }, 'failed at https://me:hidden-value@host/ with %s', 'sk-hidden-value');
    expect(lines).toHaveLength(3);
    expect(lines.join()).not.toContain('hidden-value');
    expect(lines[1]).toContain('cannot reach');
  });

  it('names run and thread in every line of a run', () => {
    const { log, last } = capture();
    runLogger(log, { runId: 'r', threadId: 't' }).warn('slow');
    expect(last()).toMatchObject({ level: 'warn', runId: 'r', threadId: 't', name: 'test', msg: 'slow' });
  });

  it('takes an unknown level as info and survives cycles', () => {
    const { log, lines } = capture('laud');
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    log.debug('no');
    log.info({ cycle }, 'yes');
    expect(lines).toHaveLength(1);
  });
});

it.each([
  ['error at https://user:pw@host/x', 'error at https://[redacted]@host/x'],
  ['Authorization: Bearer abcdefghijk', 'Authorization: Bearer [redacted]'],
  ['Incorrect API key provided: sk-proj-12345678.', 'Incorrect API key provided: [redacted].'],
  ['GET /x?api_key=12345&y=1', 'GET /x?api_key=[redacted]&y=1'],
  ['redis://:pw@host, postgres://u:p@ss@host/db', 'redis://[redacted]@host, postgres://[redacted]@host/db'],
  ['PGPASSWORD=hunter2 MY_API_KEY=12345', 'PGPASSWORD=[redacted] MY_API_KEY=[redacted]'],
  ['{"password":"two words","a":1}', '{"password":"[redacted]","a":1}'],
  ["{'auth_token': 'abc', 'b': 1}", "{'auth_token': '[redacted]', 'b': 1}"],
  ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-d_e!', 'jwt [redacted]!'],
  ['nothing secret, 5 tokens', 'nothing secret, 5 tokens'],
])('%j is shown as %j', (text, shown) => {
  expect(redactText(text)).toBe(shown);
});

it('is quick on long texts that look like the beginning of an address or a secret', () => {
  const texts = ['a'.repeat(300_000), 'secret '.repeat(40_000), 'a://b'.repeat(60_000), 'password="'.repeat(30_000)];
  const started = Date.now();
  texts.forEach((text) => expect(redactText(text)).toBeDefined());
  expect(Date.now() - started).toBeLessThan(3_000);
});

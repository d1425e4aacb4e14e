import { commandEnvironment, isSecretName, redactValues } from '../../../sandbox/environment';

describe('what commands inherit', () => {
  it.each([
    'OPENAI_API_KEY',
    'REDIS_URL',
    'PGSERVICEFILE',
    'my_secret_thing',
    'GH_PAT',
    'SENTRY_DSN',
    'PGPASSWORD',
    'aws_credentials',
    'database_url',
  ])('%s stays with the service', (name) => expect(isSecretName(name)).toBe(true));

  it.each(['PATH', 'HOME', 'PWD', 'LANG', 'VIRTUAL_ENV', 'EDITOR', 'API_URL'])('%s is passed on', (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  it('a secret stays with the service whatever it is called, and an injected value wins even under the name of one', () => {
    const environment = commandEnvironment(
      { environment: { LANG: 'C', MY_TOKEN: 'old', PLAIN: 'known', GONE: undefined }, secrets: new Set(['PLAIN']) },
      { MY_TOKEN: 'new' },
    );
    expect(environment).toEqual({ LANG: 'C', MY_TOKEN: 'new' });
  });

  it.each(['A-B', '1A', '', 'A B', 'A=B'])('the variable name %j is refused', (name) => {
    expect(() => commandEnvironment({ environment: {}, secrets: new Set() }, { [name]: 'x' })).toThrow(
      'Invalid environment variable name',
    );
  });
});

describe('redaction', () => {
  it('hides injected values, the longest first, and leaves short ones', () => {
    expect(redactValues('abcdefgh-12345678 abcdefgh abc', ['abcdefgh', 'abcdefgh-12345678', 'abc', 'abcdefgh'])).toBe(
      '[redacted] [redacted] abc',
    );
  });
});

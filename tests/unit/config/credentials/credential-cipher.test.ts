import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCredentialCipher, parseEnvironment } from '../../../../config';
import { generateFernetKey } from '../../../../config/credentials/fernet';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'deer-flow-credentials-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const FILE = '.credentials_key';

function cipher(variable?: string, folder: string = home) {
  const { credentialKeys } = parseEnvironment({ DEER_FLOW_CREDENTIALS_KEY: variable }, home);
  return createCredentialCipher({ keys: credentialKeys, home: folder });
}

describe('a stored credential', () => {
  it('is kept in the newest form, and holds no part of the credential', async () => {
    const stored = await cipher(generateFernetKey()).seal('xoxb-token');
    expect(stored).toMatch(/^fernet:v2:gAAAAA/);
    expect(stored).not.toContain('xoxb');
  });

  it('stays readable while its key is listed, and new ones are written under the first key', async () => {
    const [older, newer] = [generateFernetKey(), generateFernetKey()];
    const before = await cipher(older).seal('before');
    const rotated = cipher(` ${newer} , ${older} `);
    expect(await rotated.open(before)).toBe('before');
    const after = await rotated.seal('after');
    expect(await cipher(newer).open(after)).toBe('after');
    expect(await cipher(older).open(after)).toBeNull();
  });

  it('of an earlier build is read with the same key', async () => {
    const one = cipher(generateFernetKey());
    const stored = await one.seal('value');
    expect(await one.open(stored.replace('fernet:v2:', 'fernet:v1:'))).toBe('value');
  });

  it.each(['plain text', 'fernet:v2:', 'fernet:v3:gAAAAA', ''])(
    'is missing where it cannot be read: %j',
    async (stored) => {
      expect(await cipher(generateFernetKey()).open(stored)).toBeNull();
    },
  );
});

describe('the key file', () => {
  it.each([undefined, '', '  '])(
    'is made at the first use when the variable is %j, for its owner only',
    async (variable) => {
      const one = cipher(variable);
      expect(await one.open('fernet:v2:gAAAAA')).toBeNull();
      expect(await readdir(home)).toEqual([]);
      const stored = await one.seal('value');
      expect((await stat(join(home, FILE))).mode & 0o777).toBe(0o600);
      expect(await cipher(variable).open(stored)).toBe('value');
      expect(await cipher(await readFile(join(home, FILE), 'utf8')).open(stored)).toBe('value');
    },
  );

  it('is never made while the variable holds a key', async () => {
    await cipher(generateFernetKey()).seal('value');
    expect(await readdir(home)).toEqual([]);
  });

  it('is one file with one key for all processes that begin at once', async () => {
    const folder = join(home, 'new');
    const stored = await Promise.all(Array.from({ length: 10 }, () => cipher(undefined, folder).seal('value')));
    expect(await readdir(folder)).toEqual([FILE]);
    for (const value of stored) expect(await cipher(undefined, folder).open(value)).toBe('value');
  });

  it('that is damaged is told without its content, and never replaced', async () => {
    await writeFile(join(home, FILE), 'not-a-key');
    const failure = await cipher()
      .seal('value')
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'configuration', message: expect.stringContaining('.credentials_key') });
    expect(String(failure)).not.toContain('not-a-key');
    expect(String(failure)).not.toContain(home);
    expect(await readFile(join(home, FILE), 'utf8')).toBe('not-a-key');
  });
});

describe('a malformed DEER_FLOW_CREDENTIALS_KEY stops the start, without showing any of it:', () => {
  const good = generateFernetKey();
  it.each([
    ['standard base64', Buffer.alloc(32, 0xfb).toString('base64'), 1],
    ['too short', 'c2hvcnQ=', 1],
    ['one bad entry of several', `${good},oops`, 2],
    ['an empty entry', `${good},`, 2],
  ])('%s', (_case, variable, entry) => {
    const attempt = () => parseEnvironment({ DEER_FLOW_CREDENTIALS_KEY: variable }, home);
    expect(attempt).toThrow(
      expect.objectContaining({
        code: 'configuration',
        message: `DEER_FLOW_CREDENTIALS_KEY: entry ${entry}: expected a Fernet key (32 bytes in urlsafe base64, 44 characters)`,
      }),
    );
  });
});

import { createHmac } from 'node:crypto';
import { fernetKey, openFernet } from '../../../../config';
import type { FernetKey } from '../../../../config/credentials/fernet';
import { generateFernetKey, sealFernet } from '../../../../config/credentials/fernet';

/** The values that the specification of Fernet publishes for implementations to be held against. */
const SECRET = 'cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=';
const TOKEN = 'gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==';
const AT = Date.parse('1985-10-26T01:20:00-07:00');
const IV = Buffer.from(Array.from({ length: 16 }, (_, index) => index));

function keyOf(text: string): FernetKey {
  const key = fernetKey(text);
  if (key === null) throw new Error('The test has no key.');
  return key;
}
const key = keyOf(SECRET);

/** A token of any content that carries a right signature. */
function signedToken(content: Buffer): string {
  const signing = Buffer.from(SECRET, 'base64url').subarray(0, 16);
  const tag = createHmac('sha256', signing).update(content).digest();
  return Buffer.concat([content, tag]).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

describe('a Fernet token', () => {
  it('is written as the specification says', () => {
    expect(sealFernet(key, 'hello', { at: AT, iv: IV })).toBe(TOKEN);
  });

  it('of the specification is read', () => {
    expect(openFernet(key, TOKEN)).toBe('hello');
  });

  it('of Python with text beyond ASCII is read, and written alike', () => {
    const other = keyOf(Buffer.from('0123456789abcdef0123456789abcdef').toString('base64'));
    const text = 'größe ≤ 1 🦌';
    const written =
      'gAAAAABlU_EAAAECAwQFBgcICQoLDA0OD_LoorEbOTh7GjOX1zeQCgZQkld2bePUrztVCtO64fI_A_G_-o-WGSMX58UJjpectltRFUolDYxnv-KYbIlQU-E=';
    expect(openFernet(other, written)).toBe(text);
    expect(sealFernet(other, text, { at: 1_700_000_000_000, iv: IV })).toBe(written);
  });

  it('is another each time, and reads as what went in', () => {
    const tokens = ['', 'a', 'x'.repeat(10_000)].map((text) => [text, sealFernet(key, text)] as const);
    for (const [text, token] of tokens) expect(openFernet(key, token)).toBe(text);
    expect(sealFernet(key, 'a')).not.toBe(sealFernet(key, 'a'));
  });

  const content = Buffer.from(TOKEN, 'base64url').subarray(0, -32);
  const changed = Buffer.from(TOKEN, 'base64url');
  changed.writeUInt8((changed[30] ?? 0) ^ 1, 30);
  it.each([
    ['of another key', sealFernet(keyOf(generateFernetKey()), 'hello')],
    ['that was changed', changed.toString('base64url') + '=='],
    ['with a wrong signature', TOKEN.replace(/.{4}$/, 'AA==')],
    ['that is cut off', TOKEN.slice(0, 60)],
    ['that is too short to be one', 'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPA=='],
    ['whose padding is missing', TOKEN.replace(/=+$/, '')],
    ['in standard base64', `+/${TOKEN.slice(2)}`],
    ['with characters of no alphabet', `%%${TOKEN.slice(2)}`],
    ['of another version', signedToken(Buffer.concat([Buffer.from([0x81]), content.subarray(1)]))],
    ['without content', signedToken(content.subarray(0, 25))],
    ['whose content is no whole number of blocks', signedToken(content.subarray(0, -1))],
    [
      'whose initialisation vector breaks the padding',
      signedToken(Buffer.concat([content.subarray(0, 24), Buffer.from([0xff]), content.subarray(25)])),
    ],
    ['that is empty', ''],
  ])('%s is not read', (_case, token) => {
    expect(openFernet(key, token)).toBeNull();
  });
});

describe('a Fernet key', () => {
  it.each([
    ['empty text', ''],
    ['16 bytes', Buffer.alloc(16, 1).toString('base64url')],
    ['33 bytes', Buffer.alloc(33, 1).toString('base64url')],
    ['standard base64', Buffer.alloc(32, 0xff).toString('base64')],
    ['no padding', SECRET.replace('=', '')],
    ['text behind it', `${SECRET}x`],
  ])('is not: %s', (_case, text) => {
    expect(fernetKey(text)).toBeNull();
  });

  it('that is made is one', () => {
    expect(fernetKey(generateFernetKey())).not.toBeNull();
  });

  it('shows nothing of itself when it is printed', () => {
    const bytes = Buffer.from(SECRET, 'base64url');
    const shown =
      JSON.stringify(key) + String(key.signing) + JSON.stringify(key.encryption.asymmetricKeyDetails ?? null);
    expect(shown).not.toContain(bytes.subarray(0, 4).toString('hex'));
    expect(shown).toBe('{"signing":{},"encryption":{}}[object KeyObject]null');
  });
});

import { AppError } from '../../../contracts';
import { configSchema } from '../../../contracts/schemas/config';
import { keepSecrets } from '../../../models/entry-secrets';
import { failureOf, newCall } from './support';

const SECRET = 'plum-7d1f0a';

async function messageOf(entry: object, text: string): Promise<string> {
  const { models } = configSchema.parse({ models: [{ name: 'a', use: 'b:C', model: 'd', ...entry }] });
  const [described] = models;
  if (described === undefined) throw new Error('there is no entry');
  const failing = { name: 'a', provider: 'b', reply: () => Promise.reject(new AppError('model_auth', text)) };
  const { message } = await failureOf(keepSecrets(failing, described).reply(newCall().request));
  return message;
}

describe('an error of a model repeats nothing that its entry holds in confidence', () => {
  it.each([
    ['its key', { api_key: SECRET }],
    ['a key under a name of the provider', { google_api_key: SECRET }],
    ['a header', { default_headers: { 'X-Gateway': SECRET } }],
    ['a header that is deeper in the entry', { client_kwargs: { headers: { 'X-Gateway': SECRET } } }],
    ['the token of a header', { default_headers: { Authorization: `Bearer ${SECRET}` } }],
    ['a parameter of the address', { default_query: { access: SECRET } }],
    ['the password in the address', { base_url: `https://someone:${SECRET}@example.com/v1` }],
  ])('neither %s', async (_what, entry) => {
    expect(await messageOf(entry, `the value ${SECRET} is not valid`)).toBe('the value [redacted] is not valid');
  });

  it('nor a password in the form in which it stands in the address', async () => {
    const entry = { base_url: 'https://someone:plum%21jam%21tart@example.com/v1' };
    expect(await messageOf(entry, 'not plum%21jam%21tart and not plum!jam!tart')).toBe(
      'not [redacted] and not [redacted]',
    );
  });

  it('and keeps its words otherwise', async () => {
    const entry = { api_key: 'none', default_headers: { 'X-Flag': 'true' }, base_url: 'https://example.com/v1' };
    expect(await messageOf(entry, 'it is true that example.com has none')).toBe('it is true that example.com has none');
  });
});

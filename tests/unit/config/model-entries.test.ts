import { configSchema } from '../../../contracts/schemas/config';

const MODEL = { name: 'm', use: 'langchain_openai:ChatOpenAI', model: 'x' };

function problems(entry: Record<string, unknown>): string[] {
  const result = configSchema.safeParse({ models: [{ ...MODEL, ...entry }] });
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`);
}

const contract = (reasoning: Record<string, unknown>, rest: Record<string, unknown> = {}): string[] =>
  problems({ reasoning, ...rest });
const effort = (fields: Record<string, unknown>) =>
  contract({ thinking: 'optional', effort: { values: ['low', 'high'], ...fields } });

describe('what a model entry may say of its reasoning', () => {
  it('accepts a contract, and the plain words and flags of older files', () => {
    expect(effort({ default: 'low', aliases: { max: 'high' }, path: 'reasoning.effort' })).toEqual([]);
    expect(problems({ reasoning: true })).toEqual([]);
    expect(problems({ reasoning: 'high' })).toEqual([]);
    expect(problems({ reasoning: { effort: 'high', summary: 'auto' }, supports_reasoning_effort: true })).toEqual([]);
  });

  it.each([
    [
      'a contract that always thinks and a template for not thinking',
      { thinking: 'required' },
      { when_thinking_disabled: { a: 1 } },
      'when_thinking_disabled',
    ],
    [
      'a contract without thinking and a template for it',
      { thinking: 'unsupported' },
      { when_thinking_enabled: { a: 1 } },
      'when_thinking_enabled',
    ],
    [
      'a contract without thinking and the shortcut for it',
      { thinking: 'unsupported' },
      { thinking: { type: 'enabled' } },
      'thinking',
    ],
    [
      'a contract without thinking and the flag for it',
      { thinking: 'unsupported' },
      { supports_thinking: true },
      'supports_thinking',
    ],
    [
      'a contract without effort and the flag for it',
      { thinking: 'optional' },
      { supports_reasoning_effort: true },
      'supports_reasoning_effort',
    ],
    [
      'an effort in a template that the menu does not have',
      { thinking: 'optional', effort: { values: ['low'] } },
      { when_thinking_enabled: { reasoning_effort: 'high' } },
      'when_thinking_enabled',
    ],
    [
      'a refusal of what is never refused',
      { thinking: 'optional', on_disable_request: 'reject' },
      {},
      'reasoning.on_disable_request',
    ],
  ])('refuses %s', (_, reasoning, rest, key) => {
    expect(contract(reasoning, rest).join('\n')).toContain(key);
  });

  it.each([
    ['no values', { values: [] }],
    ['a value twice', { values: ['low', 'low'] }],
    ['a value that could not go out', { values: ['so much!'] }],
    ['a default outside the menu', { default: 'medium' }],
    ['an alias of a value', { aliases: { low: 'high' } }],
    ['an alias to nothing', { aliases: { max: 'huge' } }],
    ['a path that would replace a mapping', { path: 'extra_body' }],
    ['a path that is none', { path: 'a..b' }],
    ['a key that it does not know', { menu: [] }],
  ])('refuses an effort with %s', (_, fields) => {
    expect(effort(fields)).not.toEqual([]);
  });
});

describe('what a model entry may say of its pace', () => {
  it.each([
    [{}],
    [{ requests_per_minute: 0 }],
    [{ requests_per_minute: 1.5 }],
    [{ requests_per_minute: true }],
    [{ requests_per_minute: 60, group: 'a b' }],
    [{ requests_per_minute: 60, max_queue_size: 0 }],
    [{ requests_per_minute: 60, max_wait_seconds: 0 }],
    [{ requests_per_minute: 60, burst: 5 }],
  ])('refuses %j', (admission) => {
    expect(problems({ request_admission: admission })).not.toEqual([]);
  });

  it('refuses a pace beside a limiter of its own', () => {
    expect(problems({ request_admission: { requests_per_minute: 60 }, rate_limiter: {} })).toEqual([
      'request_admission: request_admission cannot be combined with a custom rate_limiter',
    ]);
  });
});

it('a key or an address with a line break is refused before it can end a header', () => {
  expect(problems({ api_key: 'a\nb' })).toEqual(['api_key: must be one line']);
  expect(problems({ base_url: 'http://x\r\n' })).toEqual(['base_url: must be one line']);
});

it('a key or an address with other white space is refused, and a key with what no header takes', () => {
  const key = 'api_key: must be printable ASCII without spaces';
  expect(problems({ api_key: 'sk-1 ' })).toEqual([key]);
  expect(problems({ api_key: 'ключ' })).toEqual([key]);
  expect(problems({ base_url: ' http://x/v1' })).toEqual(['base_url: must hold no spaces']);
  expect(problems({ api_base: 'http://x/v1\t' })).toEqual(['api_base: must hold no spaces']);
  expect(problems({ api_key: '', base_url: '' })).toEqual([]);
});

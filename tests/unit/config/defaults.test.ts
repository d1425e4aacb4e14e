import { configSchema } from '../../../contracts/schemas/config';
import { USUAL_VALUES } from '../../fixtures/usual-values';

/** What is otherwise here, or has no counterpart in DeerFlow. */
const OWN: Record<string, unknown> = {
  // Has to be named in DeerFlow; here a file need not exist at all.
  'sandbox.use': 'deerflow.sandbox.local:LocalSandboxProvider',
  // The stream of a run is what a reader comes back to after a long time: a minute would be too short for that.
  'stream_bridge.recovered_stream_cleanup_delay_seconds': 3600,
  'subagent_runtime.max_running': 3,
  'verification.receipts_enabled': false,
  'runs.on_disconnect_default': 'continue',
  'runs.model_stall_timeout_seconds': 120,
  'runs.webhook_allow_private_addresses': false,
};

/** Of entries that are written by hand: what they have beside what must be written. */
const ENTRIES: Array<[string, Record<string, unknown>, Record<string, unknown>]> = [
  [
    'models.0',
    { models: [{ name: 'm', use: 'u', model: 'x', request_admission: { requests_per_minute: 1 } }] },
    {
      name: 'm',
      use: 'u',
      model: 'x',
      supports_thinking: false,
      supports_reasoning_effort: false,
      supports_vision: false,
      request_admission: { requests_per_minute: 1, max_wait_seconds: 300, max_queue_size: 256 },
    },
  ],
  [
    'models.0.reasoning',
    { models: [{ name: 'm', use: 'u', model: 'x', reasoning: { thinking: 'optional', effort: { values: ['a'] } } }] },
    {
      thinking: 'optional',
      on_disable_request: 'keep_enabled',
      dialect: 'auto',
      effort: { values: ['a'], aliases: {}, path: 'reasoning_effort' },
    },
  ],
  ['plugins.0', { plugins: [{ name: 'p' }] }, { name: 'p', enabled: true, required: false, config: {} }],
  [
    'sandbox.mounts.0',
    { sandbox: { mounts: [{ host_path: '/a', container_path: '/b' }] } },
    { host_path: '/a', container_path: '/b', read_only: false },
  ],
  ['subagents.agents.a', { subagents: { agents: { a: {} } } }, {}],
  [
    'subagents.custom_agents.a',
    { subagents: { custom_agents: { a: { description: 'd', system_prompt: 's' } } } },
    {
      description: 'd',
      system_prompt: 's',
      tools: null,
      disallowed_tools: ['task', 'ask_clarification', 'present_files'],
      skills: null,
      model: 'inherit',
      max_turns: 50,
      timeout_seconds: 900,
    },
  ],
  [
    'acp_agents.a',
    { acp_agents: { a: { command: 'c' } } },
    { command: 'c', args: [], env: {}, model: null, auto_approve_permissions: false, timeout_seconds: 1800 },
  ],
  [
    'auth.oidc.providers.a',
    { auth: { oidc: { providers: { a: { issuer: 'i', client_id: 'c' } } } } },
    {
      issuer: 'i',
      client_id: 'c',
      scopes: ['openid', 'email', 'profile'],
      token_endpoint_auth_method: 'client_secret_post',
      auto_create_users: true,
      require_verified_email: true,
      allowed_email_domains: [],
      admin_emails: [],
      pkce_enabled: true,
      nonce_enabled: true,
    },
  ],
];

function valueAt(root: unknown, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((value, part) => (value instanceof Object ? Reflect.get(value, part) : undefined), root);
}

/** The keys that hold a value of their own, not further keys of the schema. */
function keysOf(value: unknown, whole: ReadonlySet<string>, prefix = ''): string[] {
  if (whole.has(prefix) || typeof value !== 'object' || value === null || Array.isArray(value)) return [prefix];
  return Object.entries(value).flatMap(([key, inner]) =>
    keysOf(inner, whole, prefix === '' ? key : `${prefix}.${key}`),
  );
}

describe('a file that says nothing', () => {
  const config = configSchema.parse({});

  it.each(Object.entries({ ...USUAL_VALUES, ...OWN }))('has %s at %j', (key, usual) => {
    expect(valueAt(config, key)).toEqual(usual);
  });

  it('has no key that is not in this table', () => {
    const listed = new Set(Object.keys({ ...USUAL_VALUES, ...OWN }));
    expect(keysOf(config, listed).filter((key) => !listed.has(key))).toEqual([]);
  });
});

describe('an entry that says only what it must', () => {
  it.each(ENTRIES)('%s has the rest', (key, document, usual) => {
    expect(valueAt(configSchema.parse(document), key)).toEqual(usual);
  });
});

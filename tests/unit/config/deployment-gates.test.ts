import { checkDeployment, requireDeployable } from '../../../config';
import { configSchema } from '../../../contracts/schemas/config';

type Document = Record<string, unknown>;

const SANDBOX = { use: 'deerflow.sandbox.local:LocalSandboxProvider' };
const POSTGRES = { database: { backend: 'postgres', postgres_url: 'postgresql://example.invalid/db' } };
const SEVERAL = { DEER_FLOW_MULTI_INSTANCE: 'true' };

const report = (document: Document, env: Record<string, string> = {}) =>
  checkDeployment(configSchema.parse({ sandbox: SANDBOX, ...document }), env);
const refusedKeys = (document: Document, env: Record<string, string> = {}) =>
  report(document, env).refused.map(({ key }) => key);

describe('whether a deployment has several processes', () => {
  it.each(['', ' ', '0', 'false', 'No', 'OFF'])('is not declared by DEER_FLOW_MULTI_INSTANCE=%j', (word) => {
    expect(refusedKeys({}, { DEER_FLOW_MULTI_INSTANCE: word })).toEqual([]);
  });

  it.each(['1', 'true', 'yes', 'treu'])('is declared by any other word, so that a typing error is safe: %s', (word) => {
    expect(refusedKeys({}, { DEER_FLOW_MULTI_INSTANCE: word })).toEqual(['database.backend']);
  });

  it('is declared by the configuration file', () => {
    expect(refusedKeys({ deployment: { multi_instance: true } })).toEqual(['database.backend']);
  });

  it('follows from a number of workers, and not from a word or from one', () => {
    expect(refusedKeys({}, { GATEWAY_WORKERS: '2' })).toEqual(['database.backend']);
    expect(refusedKeys({}, { WEB_CONCURRENCY: '4' })).toEqual(['database.backend']);
    expect(refusedKeys({}, { GATEWAY_WORKERS: '1', WEB_CONCURRENCY: '4' })).toEqual([]);
    expect(refusedKeys({}, { GATEWAY_WORKERS: ' ', WEB_CONCURRENCY: '4' })).toEqual(['database.backend']);
    expect(refusedKeys({}, { GATEWAY_WORKERS: 'many' })).toEqual([]);
  });
});

describe('a single process', () => {
  it('may have every default', () => {
    expect(report({})).toEqual({ refused: [], warnings: [] });
  });

  it('may not keep agents in a database that is memory', () => {
    const memory = { agent_storage: { backend: 'db' }, database: { backend: 'memory' } };
    expect(refusedKeys(memory)).toEqual(['agent_storage.backend']);
    expect(refusedKeys({ ...memory, database: { backend: 'sqlite' } })).toEqual([]);
  });

  it('starts with a warning where the database that a section asks for is memory', () => {
    const throttle = { auth: { local: { throttle_storage: 'db' } } };
    const dedupe = { dedupe_storage: { backend: 'postgres' } };
    const found = report({ ...throttle, ...dedupe, database: { backend: 'memory' } });
    expect(found.refused).toEqual([]);
    expect(found.warnings.map(({ key }) => key)).toEqual(['auth.local.throttle_storage', 'dedupe_storage.backend']);
    expect(report({ ...throttle, ...dedupe, ...POSTGRES })).toEqual({ refused: [], warnings: [] });
  });

  it('that says its scheduler shares work needs a database to share', () => {
    expect(refusedKeys({ scheduler: { multi_instance: true } })).toEqual(['database.backend']);
    expect(refusedKeys({ scheduler: { multi_instance: true }, ...POSTGRES })).toEqual([]);
  });
});

describe('several processes', () => {
  it('may start on one PostgreSQL database; what has no effect here is only remarked on', () => {
    const { refused, warnings } = report(POSTGRES, SEVERAL);
    expect(refused).toEqual([]);
    expect(warnings.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['run_events.backend', 'run_ownership.heartbeat_enabled', 'stream_bridge.type']),
    );
  });

  it('may not launch scheduled tasks each for itself', () => {
    expect(refusedKeys({ ...POSTGRES, scheduler: { enabled: true } }, SEVERAL)).toEqual(['scheduler.multi_instance']);
    expect(refusedKeys({ ...POSTGRES, scheduler: { enabled: true, multi_instance: true } }, SEVERAL)).toEqual([]);
  });

  it('may not share a browser session', () => {
    const tools = [{ name: 'browser_navigate', use: 'deerflow.community.browser:browser_navigate_tool' }];
    expect(refusedKeys({ ...POSTGRES, tools }, SEVERAL)).toEqual(['tools[browser_navigate]']);
  });

  it('may not own sandboxes each for itself when that was asked for', () => {
    const sandbox = { ...SANDBOX, ownership: { type: 'memory' } };
    expect(refusedKeys({ ...POSTGRES, sandbox }, SEVERAL)).toEqual(['sandbox.ownership.type']);
  });

  it('may not connect one bot twice; the advice is never `auto`, which would not help either', () => {
    const channels = { leader_lease: { enabled: false }, telegram: { enabled: true }, github: { enabled: true } };
    const { refused } = report({ ...POSTGRES, channels }, { GATEWAY_WORKERS: '2' });
    expect(refused).toHaveLength(1);
    expect(refused[0]?.problem).toContain('telegram');
    expect(refused[0]?.problem).not.toContain('github');
    expect(refused[0]?.remedy).not.toContain('auto');
    expect(refusedKeys({ ...POSTGRES, channels: { ...channels, telegram: { enabled: false } } }, SEVERAL)).toEqual([]);
  });

  it('need a common key for stored credentials where several instances are declared', () => {
    const document = { ...POSTGRES, channel_connections: { enabled: true } };
    expect(refusedKeys(document, SEVERAL)).toEqual(['DEER_FLOW_CREDENTIALS_KEY']);
    expect(refusedKeys(document, { ...SEVERAL, DEER_FLOW_CREDENTIALS_KEY: 'a-key' })).toEqual([]);
    expect(refusedKeys(document, { GATEWAY_WORKERS: '2' })).toEqual([]);
  });

  it('are warned of what each of them would do for itself', () => {
    const usual = report(POSTGRES, SEVERAL).warnings.map(({ key }) => key);
    expect(usual).toEqual(
      expect.arrayContaining(['agent_storage.backend', 'memory.backend_config.retrieval_index_path']),
    );
    const warned = (document: Document) =>
      report({ ...POSTGRES, ...document }, SEVERAL)
        .warnings.map(({ key }) => key)
        .filter((key) => !usual.includes(key));
    expect(warned({ dedupe_storage: { backend: 'memory' } })).toEqual(['dedupe_storage.backend']);
    expect(warned({ auth: { local: { throttle_storage: 'memory' } } })).toEqual(['auth.local.throttle_storage']);
    const wechat = { enabled: true, qrcode_login_enabled: true };
    expect(warned({ channels: { wechat } })).toEqual(['channels.wechat.qrcode_login_enabled']);
    expect(warned({ channels: { wechat: { ...wechat, bot_token: 't' } } })).toEqual([]);
    const own = { agent_storage: { backend: 'db' }, memory: { backend_config: { retrieval_index_path: '/own' } } };
    const { refused, warnings } = report({ ...POSTGRES, ...own }, SEVERAL);
    expect(refused).toEqual([]);
    const left = warnings.map(({ key }) => key);
    expect(left).not.toContain('agent_storage.backend');
    expect(left).not.toContain('memory.backend_config.retrieval_index_path');
  });

  it('are told everything at once, with the way back, before anything starts', () => {
    const config = configSchema.parse({ sandbox: SANDBOX, scheduler: { enabled: true } });
    expect(() => requireDeployable(config, SEVERAL)).toThrow(
      /scheduler\.multi_instance: .*scheduler\.enabled to false.*database\.backend: .*postgres/,
    );
    expect(requireDeployable(configSchema.parse({ sandbox: SANDBOX, ...POSTGRES }), SEVERAL)).not.toEqual([]);
  });
});

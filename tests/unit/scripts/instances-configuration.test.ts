import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDeployment, loadConfig, type ConfigDocument } from '../../../config';
import { forTwoInstances } from '../../../scripts/instances/configuration';
import { prepareFiles } from '../../../scripts/instances/prepare';
import { readSettings } from '../../../scripts/instances/settings';
import { claimFolder, emptyFolder } from '../../../scripts/instances/state-folder';

const adapt = (document: ConfigDocument, keepChannels = false) =>
  forTwoInstances(document, { keepChannels, containerPrefix: 'deer-flow-mi-test' });

describe('the configuration of two instances', () => {
  it('declares them, and changes nothing else of a plain one', () => {
    const plain = { log_level: 'debug', run_events: { track_token_usage: false } };
    expect(adapt(plain)).toEqual({
      document: {
        log_level: 'debug',
        deployment: { multi_instance: true },
        database: { backend: 'postgres', postgres_url: '$DATABASE_URL' },
        run_events: { backend: 'db', track_token_usage: false },
        run_ownership: { heartbeat_enabled: true },
      },
      changes: [],
    });
    expect(plain).toEqual({ log_level: 'debug', run_events: { track_token_usage: false } });
  });

  it('loses what would reach the data of another deployment, and says so', () => {
    const { document, changes } = adapt({
      checkpointer: { type: 'postgres', connection_string: 'postgresql://mine' },
      database: { backend: 'postgres', postgres_url: 'postgresql://mine', checkpoint_cache: { type: 'redis' } },
      memory: { backend_config: { storage_path: 'mine', max_facts: 3 }, storage_path: '' },
      stream_bridge: { type: 'redis', redis_url: 'redis://mine', stream_ttl_seconds: 60 },
      sandbox: {
        use: 'deerflow.community.aio_sandbox:AioSandboxProvider',
        ownership: { type: 'redis', redis_url: 'redis://mine', ttl_multiplier: 5 },
      },
    });
    expect(JSON.stringify(document)).not.toContain('mine');
    expect(document).toMatchObject({
      memory: { backend_config: { max_facts: 3 } },
      stream_bridge: { stream_ttl_seconds: 60 },
      sandbox: { container_prefix: 'deer-flow-mi-test', ownership: { ttl_multiplier: 5 } },
    });
    const named = changes.map((line) => line.split(' ')[0]);
    expect(named).toEqual([
      'checkpointer',
      'database.checkpoint_cache',
      'stream_bridge.type',
      'memory.backend_config.storage_path',
      'sandbox.ownership:',
      'sandbox.container_prefix',
    ]);
  });

  it('has no browser tools, one launch for each schedule, and no bot that both would connect', () => {
    const { document, changes } = adapt({
      tools: [{ name: 'browser_navigate' }, { name: 'web_search' }, { name: 'browser_click' }],
      scheduler: { enabled: true },
      channels: { slack: { enabled: true, token: 't' }, github: { enabled: true }, leader_lease: { enabled: false } },
      channel_connections: { enabled: true, telegram: { enabled: true } },
    });
    expect(document).toMatchObject({
      tools: [{ name: 'web_search' }],
      scheduler: { enabled: true, multi_instance: true },
      channels: {
        slack: { enabled: false, token: 't' },
        github: { enabled: true },
        leader_lease: { enabled: false },
      },
      channel_connections: { enabled: true, telegram: { enabled: false } },
    });
    expect(changes).toHaveLength(4);
    expect(changes[0]).toBe('tools browser_navigate, browser_click were removed: a browser lives in one process');
  });

  it('keeps bots for somebody who wants to look at them', () => {
    expect(adapt({ channels: { slack: { enabled: true } } }, true).changes).toEqual([]);
  });
});

describe('the files that two instances start from', () => {
  let cwd: string;

  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'deer-flow-instances-'));
  });

  afterEach(() => rmSync(cwd, { recursive: true, force: true }));

  function prepare(yaml: string, env: Record<string, string> = {}) {
    writeFileSync(join(cwd, 'config.yaml'), yaml);
    const settings = readSettings({ env, cwd });
    claimFolder(settings.folder);
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    return { settings, lines, env: prepareFiles(settings, { step: say, warn: say }) };
  }

  it('say what the configuration of their owner says, and would not be refused', () => {
    const yaml =
      'models:\n  - {name: "yes", use: "langchain_openai:ChatOpenAI", model: "012", api_key: $SECRET}\n' +
      'scheduler: {enabled: on}\nsandbox: {ownership: {type: memory}}\ncheckpointer: {type: sqlite}\n';
    const { env, settings } = prepare(yaml, { SECRET: 'sk-1' });
    const file = join(settings.folder, 'config.yaml');
    expect(readFileSync(file, 'utf8')).not.toContain('sk-1');
    const { config } = loadConfig({ env: { ...env, DATABASE_URL: 'postgresql://x' }, cwd });
    expect(config.models[0]).toMatchObject({ name: 'yes', model: '012', api_key: 'sk-1' });
    expect(checkDeployment(config, env).refused).toEqual([]);
  });

  it('are for their owner alone where they hold secrets, and have the same key for as long as the data is kept', () => {
    const { env, settings } = prepare('log_level: info\n');
    for (const name of ['config.yaml', 'secrets.env', 'extensions_config.json']) {
      expect(statSync(join(settings.folder, name)).mode & 0o777).toBe(0o600);
    }
    expect(env['DEER_FLOW_CREDENTIALS_KEY']).toMatch(/^[\w-]{43}=$/);
    expect(prepare('log_level: info\n').env['DEER_FLOW_CREDENTIALS_KEY']).toBe(env['DEER_FLOW_CREDENTIALS_KEY']);
  });

  it('are copies: the servers, the home and the extensions of another deployment are named nowhere', () => {
    writeFileSync(join(cwd, 'extensions_config.json'), '{"mcpServers": {}, "skills": {"x": {"enabled": true}}}');
    const mine = { DATABASE_URL: 'postgresql://mine', TEMPORAL_ADDRESS: 'mine:7233', DEER_FLOW_HOME: '/mine' };
    const { env, settings } = prepare('{}\n', { ...mine, GATEWAY_WORKERS: '4' });
    expect(Object.values(env).filter((value) => value?.includes('mine'))).toEqual([]);
    expect(env['GATEWAY_WORKERS']).toBe('');
    expect(env['DEER_FLOW_HOME']).toBe(settings.folder);
    const copy = env['DEER_FLOW_EXTENSIONS_CONFIG_PATH'] ?? '';
    expect(copy.startsWith(settings.folder)).toBe(true);
    expect(JSON.parse(readFileSync(copy, 'utf8'))).toMatchObject({ skills: { x: { enabled: true } } });
  });

  it('are not made where the configuration that was named is missing', () => {
    expect(() => prepare('{}\n', { DEERFLOW_MI_BASE_CONFIG: 'other.yaml' })).toThrow(
      `DEERFLOW_MI_BASE_CONFIG: there is no file ${join(cwd, 'other.yaml')}.`,
    );
  });

  it('never go into a folder of somebody else, and nothing is deleted there', () => {
    writeFileSync(join(cwd, 'thesis.txt'), 'mine');
    expect(() => claimFolder(cwd)).toThrow(/is not empty and was not made by this command/);
    emptyFolder(cwd, () => undefined);
    expect(readdirSync(cwd)).toEqual(['thesis.txt']);
  });
});

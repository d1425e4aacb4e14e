import { CHECK_NAMES } from '../../../scripts/instances/checks/names';
import { COMMANDS, INSTANCES_HELP, parseInstancesOptions } from '../../../scripts/instances/options';
import { readSettings } from '../../../scripts/instances/settings';

const parse = (line: string) => parseInstancesOptions(line.split(' ').filter(Boolean));

describe('the command line of the instances', () => {
  it('is explained with every command and every check', () => {
    for (const word of [...COMMANDS, ...CHECK_NAMES]) expect(INSTANCES_HELP).toContain(word);
    for (const line of ['--help', 'help', 'up -h']) expect(parse(line).command).toBeNull();
  });

  it('takes what it explains', () => {
    expect(parse('stop b --kill')).toMatchObject({ command: 'stop', name: 'b', kill: true });
    expect(parse('logs -f')).toMatchObject({ command: 'logs', name: null, follow: true });
    expect(parse('check').only).toEqual(CHECK_NAMES);
    expect(parse('check --only front,run').only).toEqual(['front', 'run']);
  });

  it.each([
    ['', 'Say what to do'],
    ['restart', 'There is no command restart'],
    ['stop', 'Say what to stop'],
    ['up b', 'up takes no name'],
    ['stop a b', '"b" is too much'],
    ['start b --kill', '--kill belongs to stop'],
    ['check --only all', 'There is no check all'],
    ['up --fast', '--fast'],
  ])('refuses "%s" with a reason', (line, reason) => {
    expect(() => parse(line)).toThrow(reason);
  });
});

describe('the settings of the instances', () => {
  const settings = (env: Record<string, string>) => readSettings({ env, cwd: '/project' });

  it('are those of DeerFlow where nothing is said', () => {
    const { folder, ports, workers, keepChannels } = settings({});
    expect([folder, workers, keepChannels]).toEqual(['/project/.deer-flow/multi-instance', 2, false]);
    expect([ports.a.named, ports.b.named, ports.front.named, ports.postgres.named]).toEqual([
      8001,
      8011,
      2027,
      undefined,
    ]);
  });

  it('name a free port by 0, and refuse what is no port and no number of workers', () => {
    expect(settings({ DEERFLOW_MI_FRONT_PORT: '0' }).ports.front.named).toBeUndefined();
    expect(() => settings({ DEERFLOW_MI_FRONT_PORT: 'x' })).toThrow('DEERFLOW_MI_FRONT_PORT: expected a port number');
    expect(() => settings({ DEERFLOW_MI_WORKERS: '3' })).toThrow('DEERFLOW_MI_WORKERS: expected 1 or 2');
  });
});

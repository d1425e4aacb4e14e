import { createServerChanges } from '../../../../api/mcp/change-servers';
import { requireSafeLaunch } from '../../../../api/mcp/launch-policy';

const launch =
  (server: Record<string, unknown>, allowed: string[] = []) =>
  () =>
    requireSafeLaunch('s', server, allowed);

test.each([
  ['npx', '-y pkg -c conf.json'],
  ['npx', '--yes pkg -e x --call y'],
  ['npx', '-p a -p b tool -c conf.json'],
  ['npx', '--package=a -- tool -c conf.json'],
  ['npx', '--registry https://registry.example.com --cache /c pkg --eval'],
  ['npx', '-y --prefer-offline pkg'],
  ['npx', '@scope/server /call --node-options'],
  ['uvx', '--from git+https://example.com/x tool -c conf.toml'],
  ['uvx', '-q --python 3.12 tool --eval'],
  ['uvx', ''],
])('%s %s starts a package, and what stands behind it is its own affair', (command, args) => {
  expect(launch({ command, args: args.split(' ') })).not.toThrow();
});

test.each([
  ['npx', "-p x -c 'id'"],
  ['npx', '-c id'],
  ['npx', '-cid'],
  ['npx', '-yc id'],
  ['npx', '--call id'],
  ['npx', '--call=id'],
  ['npx', '-call id'],
  ['npx', '--cal id'],
  ['npx', '---call id'],
  ['npx', '-p -c id'],
  ['npx', '--unknown value -c id'],
  ['npx', '--no-audit value -c id'],
  ['npx', '--refresh value -c id'],
  ['npx', '-n value -c id'],
  ['npx', '--node-options=--require=/tmp/x pkg'],
  ['npx', '--node-options --require=/tmp/x pkg'],
  ['npx', '--node-arg=--eval pkg'],
  ['npx', '--shell /tmp/x pkg'],
  ['npx', '--script-shell /tmp/x pkg'],
  ['uvx', '-e x'],
])('%s %s would run code that is no package, and is refused', (command, args) => {
  expect(launch({ command, args: args.split(' ') })).toThrow(/would run code/);
});

test.each([
  ['node', '-e code'],
  ['node', '--eval=code'],
  ['node', '--print code'],
  ['node', '-pe code'],
  ['python', '-Ic code'],
])('a program that the operator allows may not be given code either: %s %s', (command, args) => {
  expect(launch({ command, args: args.split(' ') }, ['node', 'python'])).toThrow(/would run code/);
});

test('a program that the operator allows may be started', () => {
  const server = { command: 'docker', args: ['run', '-i', '-e', 'TOKEN', 'image'] };
  expect(launch(server, ['docker'])).not.toThrow();
  expect(launch(server)).toThrow(
    "MCP server 's' uses disallowed stdio command 'docker'. Allowed commands: npx, uvx. Configure " +
      'DEER_FLOW_MCP_STDIO_COMMAND_ALLOWLIST to extend this list.',
  );
});

test.each(['bash', 'NPX', '__proto__'])('the program %s is refused', (command) => {
  expect(launch({ command, args: [] })).toThrow(/disallowed/);
});

test.each(['/usr/bin/npx', './npx', '..\\npx', 'npx -c', 'npx;id', ' npx', '$NPX', '`npx`'])(
  'a command that is not a bare name is refused: %j',
  (command) => {
    expect(launch({ command, args: [] })).toThrow(/one program/);
  },
);

test.each([undefined, null, '', ' '])('a server that is started needs a command, and %j is none', (command) => {
  expect(launch({ command })).toThrow(/needs a command/);
});

test.each(['NODE_OPTIONS', 'LD_PRELOAD', 'PYTHONPATH', 'node_options'])('the variable %s is refused', (name) => {
  expect(launch({ command: 'npx', env: { [name]: 'x' } })).toThrow(`env.${name}`);
});

test.each([{ type: 'http' }, { transport: 'sse' }])(
  'a server that is only connected to needs none of it: %j',
  (server) => {
    expect(launch({ ...server, url: 'https://mcp.example.com', env: { NODE_OPTIONS: '' } })).not.toThrow();
  },
);

describe('a server that the owner of the file wrote', () => {
  const own = { command: '/opt/mine', args: ['-c', 'x'], enabled: true };
  const changes = createServerChanges([]);

  test('may stay, be described anew and be switched off', () => {
    expect(changes.replaceAll({ own: { ...own, description: 'new' } })({ own })).toMatchObject({ own });
    expect(changes.replaceAll({ own: { ...own, enabled: false } })({ own })).toMatchObject({ own: { enabled: false } });
    expect(changes.toggle('own', false)({ own })).toEqual({ own: { ...own, enabled: false } });
  });

  test('cannot be switched on or changed in what it starts', () => {
    const off = { ...own, enabled: false };
    expect(() => changes.toggle('own', true)({ own: off })).toThrow(/one program/);
    expect(() => changes.replaceAll({ own })({ own: off })).toThrow(/one program/);
    expect(() => changes.replace('own', { ...own, args: ['-c', 'y'] })({ own })).toThrow(/one program/);
  });

  test('cannot be added over the API, not even switched off', () => {
    expect(() => changes.add({ own: { ...own, enabled: false } })({})).toThrow(/one program/);
  });
});

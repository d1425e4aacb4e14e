import { createPathTable, isWithin, normaliseVirtualPath, resolveVirtualPath } from '../../../sandbox/virtual-paths';
import type { Mount } from '../../../sandbox/virtual-paths';
import { createPathMask, translateCommand } from '../../../sandbox/masking';

function mount(virtual: string, host: string, writable: boolean): Mount {
  return { virtual, host, writable, scope: async () => [host] };
}

const table = createPathTable(
  [
    mount('/mnt/user-data/workspace', '/host/ws', true),
    mount('/mnt/user-data/uploads', '/host/up', true),
    mount('/mnt/user-data/outputs', '/host/out', true),
    mount('/mnt/skills/public', '/host/skills', false),
    mount('/mnt/acp-workspace', '/host/acp', false),
    mount('/mnt/data', '/srv/data', true),
    mount('/mnt/data/fixed', '/srv/fixed', false),
  ],
  ['/mnt/user-data', '/mnt/skills', '/mnt/acp-workspace', '/mnt/data', '/mnt/data/fixed'],
);

describe('translation', () => {
  it.each([
    ['/mnt/user-data/workspace/a.txt', '/host/ws/a.txt'],
    ['/mnt/user-data/workspace', '/host/ws'],
    ['/mnt/user-data/workspace/', '/host/ws'],
    ['/mnt//user-data/./workspace//b', '/host/ws/b'],
    ['/mnt/user-data/outputs/x/y', '/host/out/x/y'],
    ['/mnt/skills/public/s/SKILL.md', '/host/skills/s/SKILL.md'],
    ['/mnt/data/x', '/srv/data/x'],
    ['/mnt/data/fixed/x', '/srv/fixed/x'],
    ['/mnt/data/fixedx', '/srv/data/fixedx'],
    ['/mnt/user-data', null],
    ['/mnt/skills', null],
  ])('%s stands for %s', (path, host) => {
    expect(resolveVirtualPath(table, path, 'read').host).toBe(host);
  });
});

describe('access', () => {
  it.each([
    ['/mnt/user-data/workspace/a', 'write', null],
    ['/mnt/data/a', 'write', null],
    ['/mnt/data/fixed/a', 'read', null],
    ['/mnt/data/fixed/a', 'write', 'read-only'],
    ['/mnt/skills/public/a', 'read', null],
    ['/mnt/skills/custom/x', 'write', 'read-only'],
    ['/mnt/acp-workspace/a', 'read', null],
    ['/mnt/acp-workspace/a', 'write', 'read-only'],
    ['/mnt/user-data/a.txt', 'write', 'path traversal'],
    ['/mnt/user-data/a.txt', 'read', 'path traversal'],
    ['/mnt/user-data/workspace/../../x', 'read', 'path traversal'],
    ['/mnt/user-data/workspace/..\\x', 'read', 'path traversal'],
    ['/mnt/user-data-x/a', 'read', 'Allowed: /mnt/user-data, /mnt/skills, /mnt/acp-workspace, /mnt/data'],
    ['/mnt/user-data/workspace/a\0b', 'read', 'NUL'],
    ['/etc/passwd', 'read', 'Allowed: /mnt/user-data'],
    ['relative.txt', 'read', 'Allowed: /mnt/user-data'],
    ['/', 'read', 'Allowed: /mnt/user-data'],
    ['', 'read', 'Allowed: /mnt/user-data'],
    ['/mnt', 'read', 'Allowed: /mnt/user-data'],
  ] as const)('%j to %s: %s', (path, intent, refusal) => {
    if (refusal === null) expect(resolveVirtualPath(table, path, intent).host).not.toBeNull();
    else expect(() => resolveVirtualPath(table, path, intent)).toThrow(refusal);
  });

  it('a refusal does not show host paths', () => {
    expect(() => resolveVirtualPath(table, '/mnt/user-data-x/a', 'read')).toThrow(/^(?!.*\/host)/);
  });
});

describe('segments', () => {
  it.each([
    ['/a/b', '/a', true],
    ['/a', '/a', true],
    ['/ab', '/a', false],
    ['/a', '/a/b', false],
  ])('%s within %s: %s', (path, root, expected) => expect(isWithin(path, root)).toBe(expected));

  it.each([
    ['/a//b/./c/', '/a/b/c'],
    ['a/./b', 'a/b'],
    ['/', '/'],
  ])('%s is spelled %s', (path, expected) => expect(normaliseVirtualPath(path)).toBe(expected));
});

describe('masking', () => {
  const mask = createPathMask([
    { virtual: '/mnt/user-data', host: '/home/t/user-data' },
    { virtual: '/mnt/user-data/workspace', host: '/home/t/user-data/workspace' },
    { virtual: '/mnt/skills/public', host: '/srv/skills(1)' },
  ]);

  it.each([
    ['/home/t/user-data/workspace/a.txt', '/mnt/user-data/workspace/a.txt'],
    ['cat: /home/t/user-data/workspace/a: No such file', 'cat: /mnt/user-data/workspace/a: No such file'],
    ['/home/t/user-data', '/mnt/user-data'],
    ['/home/t/user-data.', '/mnt/user-data.'],
    ['/home/t/user-data-other/x', '/home/t/user-data-other/x'],
    ['/home/t/user-data.bak', '/home/t/user-data.bak'],
    ['"/home/t/user-data/workspace":"/home/t/user-data"', '"/mnt/user-data/workspace":"/mnt/user-data"'],
    [
      '/home/t/user-data/workspace:/home/t/user-data/workspace/bin',
      '/mnt/user-data/workspace:/mnt/user-data/workspace/bin',
    ],
    ['\\home\\t\\user-data\\workspace\\a b', '/mnt/user-data/workspace/a b'],
    ['/srv/skills(1)/x', '/mnt/skills/public/x'],
    ['nothing here', 'nothing here'],
  ])('%j is shown as %j', (text, expected) => expect(mask(text)).toBe(expected));
});

describe('commands for the host shell', () => {
  const plain = [{ virtual: '/mnt/user-data/workspace', host: '/h/ws' }];
  const odd = [{ virtual: '/mnt/user-data/workspace', host: "/h/my $ws's" }];

  it.each([
    ['cat /mnt/user-data/workspace/x', 'cat /h/ws/x'],
    ['cat "/mnt/user-data/workspace/x y"', 'cat "/h/ws/x y"'],
    ['gcc -I/mnt/user-data/workspace/inc a.c', 'gcc -I/h/ws/inc a.c'],
    ['X=/mnt/user-data/workspace:$X', 'X=/h/ws:$X'],
    ['ls /mnt/user-data/workspace-2', 'ls /mnt/user-data/workspace-2'],
    ['ls foo/mnt/user-data/workspace', 'ls foo/mnt/user-data/workspace'],
    ['curl http://h.example/mnt/user-data/workspace', 'curl http://h.example/mnt/user-data/workspace'],
  ])('%j runs as %j', (command, expected) => expect(translateCommand(command, plain)).toBe(expected));

  it.each([
    ['cat /mnt/user-data/workspace/x', "cat /h/my\\ \\$ws\\'s/x"],
    ['cat "/mnt/user-data/workspace/x"', 'cat "/h/my \\$ws\'s/x"'],
    ["cat '/mnt/user-data/workspace/x'", "cat '/h/my $ws'\\''s/x'"],
  ])('an odd host path is quoted as %j needs it', (command, expected) => {
    expect(translateCommand(command, odd)).toBe(expected);
  });
});

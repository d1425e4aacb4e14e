import { guardCommand } from '../../../sandbox/command-guard';

const ROOTS = ['/mnt/user-data', '/mnt/skills', '/mnt/acp-workspace', '/mnt/data'];

describe('commands that reach outside the agent directories', () => {
  it.each([
    'cat /etc/passwd',
    'cat "/etc/passwd"',
    'cat /e""tc/passwd',
    'cat </etc/passwd',
    'X=/etc/passwd; cat $X',
    'python3 -c "open(\'/etc/passwd\')"',
    'cat /mnt/user-data-x/a',
    'cat /home/person/.ssh/id',
    'cat /{etc,usr}/passwd',
    'ls ..',
    'ls ../other',
    'cat a/../../b',
    'cat "."./x',
    'cat a/..',
    'cd',
    'cd -',
    'cd ~',
    'cd ~/x',
    'cd $HOME',
    'cd "$HOME"',
    'cd `pwd`',
    'cd /etc',
    'cd /mnt/user-data-x',
    'pushd /',
    'command cd /usr',
    'builtin cd ~',
    'ls && cd',
    'echo $(cd sub && ls)',
    'cat file:///etc/passwd',
    'curl FILE:///etc/passwd',
    'ls /',
    'find / -name x',
    'rm -rf /',
    'tar cf x.tar //',
    'ls /*',
  ])('%j is refused', (command) => {
    expect(guardCommand(command, ROOTS)).toEqual(expect.any(String));
  });
});

describe('commands that stay where they belong', () => {
  it.each([
    'curl https://e.com/a/b',
    'curl https://e.com/a/../b',
    'cat /mnt/user-data/workspace/a.txt',
    'cat "/mnt/user-data/uploads/my file.txt"',
    'cat /mnt/data/x /mnt/skills/public/a/SKILL.md',
    '/usr/bin/python3 x.py',
    'ls > /dev/null 2>&1',
    'cd sub && ls',
    'cd /mnt/user-data/outputs',
    'echo a/b/c',
    'echo $((8 / 2))',
    'echo {1..3}',
    'git log main..feature',
    'echo "GET /threads/{thread_id}/runs"',
    'echo "和/或 /路径"',
    'ls',
    'sed s/a/b/ file.txt',
    'ls *.txt',
    'cat <<EOF > a.md\nplain text\nEOF',
  ])('%j passes', (command) => {
    expect(guardCommand(command, ROOTS)).toBeNull();
  });
});

it('a refusal names the roots that are allowed', () => {
  expect(guardCommand('cat /etc/passwd', ROOTS)).toContain(
    '/mnt/user-data, /mnt/skills, /mnt/acp-workspace, /mnt/data',
  );
});

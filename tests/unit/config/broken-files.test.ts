import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLiveConfig, loadConfig } from '../../../config';
import { isAppError } from '../../../contracts';

/** Files as editors, merges and accidents leave them behind: at a start, and in a process that runs. */
const GOOD = 'title: {max_chars: 33}\nmodels:\n  - {name: m, use: "langchain_openai:ChatOpenAI", model: x}\n';
const SECRET = 'sk-broken-secret';
const model = (rest: string): string => `models:\n  - name: m\n    use: u\n    model: x\n    ${rest}\n`;
const laughs = Array.from({ length: 12 }, (_, level) =>
  level === 0
    ? 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
    : `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join()}]`,
);
const merges = Array.from({ length: 30 }, (_, level) =>
  level === 0
    ? 'b0: &b0 {x: 1}'
    : `b${level}: &b${level} {<<: [${Array(9)
        .fill(`*b${level - 1}`)
        .join()}]}`,
);

const BROKEN: Array<[what: string, content: string | Uint8Array, message: RegExp]> = [
  ['broken YAML', 'title: {}\nmodels: [\n', /^config\.yaml:\d: /],
  ['a file half written', `${GOOD}title2: {max_ch`, /^config\.yaml:4: /],
  ['a value half written', `${GOOD}log_level: "inf`, /^config\.yaml:4: Missing closing/],
  ['marks of a merge', 'title: {}\n<<<<<<< HEAD\nrecursion_limit: 1\n=======\n', /^config\.yaml:\d: /],
  ['tabs', 'title:\n\tenabled: true\n', /^config\.yaml:2: Tabs are not allowed/],
  [
    'a key twice',
    'title:\n  enabled: true\n  enabled: false\n',
    /^config\.yaml:3: enabled: expected each key once, line 2/,
  ],
  ['a section twice', 'title: {}\nruns: {}\n\ntitle: {}\n', /^config\.yaml:4: title: expected each key once, line 1/],
  [
    'a key twice that merges',
    'a: &a {x: 1}\nb:\n  <<: *a\n  x: 2\n  x: 3\n',
    /^config\.yaml:5: x: expected each key once/,
  ],
  ['a list as a key', 'title: {}\n? [a, b]\n: 1\n', /^config\.yaml:2: expected a word as a key/],
  ['no word as a key', 'title: {}\n~: 1\n', /^config\.yaml:2: expected a word as a key/],
  [
    'a value that begins with a star',
    model(`api_key: *${SECRET}`),
    /^config\.yaml:5: a value that begins with \*.*quotes/,
  ],
  [
    'a value that begins with a mark',
    model(`api_key: !${SECRET}`),
    /^config\.yaml:5: a value that begins with !.*quotes/,
  ],
  ['a value that begins with a bar', model(`api_key: |${SECRET}`), /^config\.yaml:5: Block scalar header/],
  ['a value that begins with an arrow', model(`api_key: >${SECRET}`), /^config\.yaml:5: Block scalar header/],
  ['a text that is never closed', model(`api_key: "${SECRET}`), /^config\.yaml:\d: Missing closing/],
  [
    'a value that is an anchor',
    model(`api_key: &${SECRET} {}`),
    /^config\.yaml:5: models\[0\]\.api_key: expected text, got a mapping/,
  ],
  ['a second document', 'title: {}\n---\nruns: {}\n', /^config\.yaml:\d: expected one document/],
  ['a merge of no mapping', 'title:\n  <<: 5\n', /^config\.yaml:2: <<: expected a mapping/],
  [
    'a section that contains itself',
    'title: &t {x: *t}\n',
    /^config\.yaml:1: title\.x\.x\.x\.x: expected at most 64 nested/,
  ],
  ['many levels of lists', `a: ${'['.repeat(50_000)}`, /^config\.yaml:1: expected at most 64 nested levels$/],
  ['many levels of mappings', nested(2000), /^config\.yaml:\d+: expected at most 64 nested levels$/],
  ['aliases that multiply', laughs.join('\n'), /^config\.yaml: expected fewer aliases/],
  ['merges that multiply', merges.join('\n'), /^config\.yaml: expected fewer aliases/],
  ['ten megabytes', `a: ${'x'.repeat(10_000_000)}`, /^config\.yaml: expected at most 2097152 bytes, got 10000003$/],
  ['another encoding', Buffer.from('log_level: \xe4', 'latin1'), /^config\.yaml: expected UTF-8 text$/],
  ['text, but no mapping', 'hello\n', /^config\.yaml: expected a mapping of keys to values/],
  ['a tag of another program', 'a: !!js/function x\n', /^config\.yaml:1: a value that begins with !/],
  ['bytes', 'log_level: !!binary aGk=\n', /^config\.yaml:1: log_level: expected text, a number/],
  ['an endless number', 'recursion_limit: .inf\n', /^config\.yaml:1: recursion_limit: expected text, a number/],
  [
    'a variable that is not set',
    model('api_key: $NOPE'),
    /^config\.yaml:5: models\[0\]\.api_key: Environment variable NOPE/,
  ],
  ['a key of two lines', model('api_key: "a\\nb"'), /^config\.yaml:5: models\[0\]\.api_key: .*must be one line/],
  [
    'a key of two lines in a variable',
    model('api_key: $TWO_LINES'),
    /^config\.yaml:5: models\[0\]\.api_key: .*one line/,
  ],
  [
    'no word for thinking',
    model('reasoning: {thinking: maybe}'),
    /^config\.yaml:5: models\[0\]\.reasoning\.thinking: expected one of/,
  ],
  [
    'a stop below its warning',
    'token_budget:\n  warn_threshold: 0.9\n  hard_stop_threshold: 0.5\n',
    /^config\.yaml:3: token_budget\.hard_stop_threshold: .*not be below/,
  ],
  [
    'a limit below its warning',
    'loop_detection:\n  hard_limit: 2\n',
    /^config\.yaml:2: loop_detection\.hard_limit: .*not be below/,
  ],
  [
    'a frequency below its warning',
    'loop_detection:\n  tool_freq_hard_limit: 2\n',
    /^config\.yaml:2: loop_detection\.tool_freq_hard_limit: /,
  ],
  [
    'a tool’s limit below its warning',
    'loop_detection:\n  tool_freq_overrides: {bash: {warn: 3, hard_limit: 2}}\n',
    /^config\.yaml:2: loop_detection\.tool_freq_overrides\.bash\.hard_limit: /,
  ],
  [
    'too few shells',
    'sandbox:\n  environment: {MAX_SHELL_SESSIONS: 4}\nsubagent_runtime: {max_running: 4}\n',
    /^config\.yaml:2: sandbox\.environment\.MAX_SHELL_SESSIONS: .*at least 5, as subagent_runtime\.max_running is 4; got 4/,
  ],
  [
    'shells that are no number',
    'sandbox:\n  environment:\n    MAX_SHELL_SESSIONS: many\n',
    /^config\.yaml:3: sandbox\.environment\.MAX_SHELL_SESSIONS: .*got another value/,
  ],
  [
    'the root as the folder of skills',
    'skills: {container_path: /}\n',
    /^config\.yaml:1: skills\.container_path: .*absolute path/,
  ],
  [
    'a folder of skills that is not absolute',
    'skills: {container_path: skills}\n',
    /^config\.yaml:1: skills\.container_path: /,
  ],
  [
    'a folder of skills by a detour',
    'skills: {container_path: /mnt/a/../b}\n',
    /^config\.yaml:1: skills\.container_path: /,
  ],
  [
    'skills among the files of users',
    'skills: {container_path: /mnt/user-data/skills}\n',
    /^config\.yaml:1: skills\.container_path: .*overlap/,
  ],
  [
    'skills above the files of users',
    'skills: {container_path: /mnt}\n',
    /^config\.yaml:1: skills\.container_path: .*overlap/,
  ],
  [
    'an address among the domains',
    'sandbox: {network: {allow_domains: ["https://example.org"]}}\n',
    /^config\.yaml:1: sandbox\.network\.allow_domains\[0\]: /,
  ],
  [
    'every domain',
    'sandbox: {network: {allow_domains: ["*"]}}\n',
    /^config\.yaml:1: sandbox\.network\.allow_domains\[0\]: /,
  ],
  [
    'a lease that is too short',
    'channels:\n  leader_lease:\n    lease_seconds: 2\n',
    /^config\.yaml:3: channels\.leader_lease\.lease_seconds: expected at least 3, got 2/,
  ],
  [
    'a lease with a word of its own',
    'channels:\n  leader_lease: {enabled: maybe}\n',
    /^config\.yaml:2: channels\.leader_lease\.enabled: expected auto, or true or false, got text/,
  ],
  [
    'a schema that no database has',
    'checkpointer: {type: postgres, postgres_schema: "a;b"}\n',
    /^config\.yaml:1: checkpointer\.postgres_schema: /,
  ],
];

function nested(levels: number): string {
  return Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
}

const ENV = { TWO_LINES: 'a\nb' };
let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broken-'));
  path = join(folder, 'config.yaml');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe.each(BROKEN)('%s', (_what, content, message) => {
  test('stops a start with one line that says where and what', async () => {
    await writeFile(path, content);
    expect(() => loadConfig({ env: ENV, cwd: folder })).toThrow(message);
    try {
      loadConfig({ env: ENV, cwd: folder });
    } catch (error) {
      expect(isAppError(error, 'configuration') && error.message).not.toMatch(/\n|call stack|^.{400}/);
      expect(String(error)).not.toContain(SECRET);
    }
  });

  test('changes nothing for a process that runs, until the file is mended', async () => {
    await writeFile(path, GOOD);
    const errors: object[] = [];
    const ignore = () => undefined;
    const log = { info: ignore, warn: ignore, error: (details: object) => void errors.push(details) };
    let ahead = 0;
    const location = { env: ENV, cwd: folder };
    const live = createLiveConfig({
      location,
      first: loadConfig(location),
      log,
      now: () => Date.now() + (ahead += 10),
    });
    const limit = () => live.current().config.title.max_chars;
    await writeFile(path, content);
    expect([limit(), limit(), limit()]).toEqual([33, 33, 33]);
    expect(live.fault()).toMatch(message);
    expect(errors).toEqual([{ fault: live.fault() }]);
    // As editors save: a new file takes the place of the old one, or of the link to it.
    await writeFile(join(folder, 'other.yaml'), GOOD.replace('33', '44'));
    await symlink('other.yaml', join(folder, 'next'));
    await rename(join(folder, 'next'), path);
    expect([limit(), live.fault()]).toEqual([44, null]);
  });
});

describe('a large file that is right', () => {
  test('is read in a time that grows with its size, not with the square of it', async () => {
    const entries = Array.from({ length: 60_000 }, (_, index) => `    key_${index}: ${index}`);
    await writeFile(path, `channels:\n  session:\n${entries.join('\n')}\n`);
    const { session } = loadConfig({ env: {}, cwd: folder }).config.channels;
    expect(Object.keys(session)).toHaveLength(60_000);
  });
});

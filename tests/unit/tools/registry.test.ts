import { createToolRegistry, toToolDefinition } from '../../../tools';
import { testConfig } from '../sandbox/support';

const SANDBOX = 'deerflow.sandbox.tools';

function registry(tools: unknown, commandsAllowed = true) {
  const warnings: object[] = [];
  const created = createToolRegistry({
    config: testConfig({ config: { tools } }),
    commandsAllowed,
    log: { info: () => undefined, warn: (fields) => warnings.push(fields) },
  });
  return { ...created, warnings };
}

it('without a list every built-in tool is offered', () => {
  expect(registry(null).names).toEqual([
    'ls',
    'read_file',
    'glob',
    'grep',
    'write_file',
    'str_replace',
    'bash',
    'present_files',
  ]);
  expect(registry(null, false).names).not.toContain('bash');
});

it('a list chooses, by class path; unknown ones are named with a reason and stop nothing', () => {
  const { names, inactive } = registry([
    { name: 'ls', group: 'file:read', use: `${SANDBOX}:ls_tool` },
    { name: 'web_search', group: 'web', use: 'deerflow.community.tavily.tools:web_search_tool', max_results: 5 },
    { name: 'bash', use: `${SANDBOX}:bash_tool` },
    { name: 'odd', use: `${SANDBOX}:odd_tool` },
  ]);
  expect(names).toEqual(['ls', 'bash', 'present_files']);
  expect(inactive).toEqual([
    {
      name: 'web_search',
      use: 'deerflow.community.tavily.tools:web_search_tool',
      reason: 'deerflow.community.tavily.tools:web_search_tool is not available',
    },
    { name: 'odd', use: `${SANDBOX}:odd_tool`, reason: `${SANDBOX}:odd_tool is not available` },
  ]);
});

it('an empty list leaves only what is always offered', () => {
  expect(registry([]).names).toEqual(['present_files']);
});

it('of two of one name the first is used', () => {
  const { names, inactive, warnings } = registry([
    { name: 'grep', use: `${SANDBOX}:grep_tool` },
    { name: 'grep2', use: `${SANDBOX}:grep_tool` },
  ]);
  expect(names).toEqual(['grep', 'present_files']);
  expect(inactive).toEqual([
    { name: 'grep2', use: `${SANDBOX}:grep_tool`, reason: 'a tool of this name is already offered' },
  ]);
  expect(warnings).toEqual([{ configured: 'grep2', tool: 'grep' }]);
});

it('bash is withheld where commands are not allowed, and the reason is told', () => {
  const { names, inactive, find } = registry([{ name: 'bash', use: `${SANDBOX}:bash_tool` }], false);
  expect(names).toEqual(['present_files']);
  expect(inactive[0]?.reason).toContain('not allowed');
  expect(find('bash')).toBeUndefined();
});

describe('what a model is told', () => {
  const definitions = new Map(registry(null).tools.map((tool) => [tool.name, toToolDefinition(tool).parameters]));

  it.each([
    ['ls', ['description', 'path'], ['path']],
    ['read_file', ['description', 'path', 'start_line', 'end_line'], ['path']],
    ['write_file', ['description', 'path', 'content', 'append'], ['path', 'content']],
    ['str_replace', ['description', 'path', 'old_str', 'new_str', 'replace_all'], ['path', 'old_str', 'new_str']],
    ['glob', ['description', 'pattern', 'path', 'include_dirs', 'max_results'], ['pattern', 'path']],
    [
      'grep',
      ['description', 'pattern', 'path', 'glob', 'literal', 'case_sensitive', 'max_results'],
      ['pattern', 'path'],
    ],
    ['bash', ['description', 'command'], ['command']],
    ['present_files', ['filepaths'], ['filepaths']],
  ])('%s takes %j and needs %j', (name, properties, required) => {
    const schema = definitions.get(name);
    expect(schema).toMatchObject({ type: 'object', required });
    expect(Object.keys(schema?.properties ?? {})).toEqual(properties);
    expect(schema).not.toHaveProperty('$schema');
    if (name !== 'present_files') expect(schema?.properties).toMatchObject({ description: { type: 'string' } });
  });

  it('defaults are part of it', () => {
    expect(definitions.get('grep')?.properties).toMatchObject({
      max_results: { type: 'integer', default: 100 },
      glob: { default: null },
      literal: { default: false },
    });
    expect(definitions.get('glob')?.properties).toMatchObject({ max_results: { default: 200 } });
  });
});

it.each([
  ['ls', 'none', 'quick'],
  ['read_file', 'none', 'quick'],
  ['glob', 'none', 'quick'],
  ['grep', 'none', 'quick'],
  ['write_file', 'file-write', 'quick'],
  ['str_replace', 'file-write', 'quick'],
  ['present_files', 'none', 'quick'],
  ['bash', 'unknown', 'slow'],
])('%s declares the effect %s and the pace %s', (name, effect, pace) => {
  expect(registry(null).find(name)).toMatchObject({ effect, pace });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT, plain, projectFiles, readProjectFile, tableRows } from './project';

interface Rule {
  name: string;
  from: { path?: string };
  to: { path?: string };
}

const CONFIG = join(ROOT, '.dependency-cruiser.cjs');
const { forbidden } = jest.requireActual<{ forbidden: Rule[] }>(CONFIG);
const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: Record<string, string> };
const cruiseArguments = (scripts['dependencies'] ?? '').split(' ').slice(1);

function cruise(args: readonly string[], cwd: string) {
  const command = join(ROOT, 'node_modules', '.bin', 'depcruise');
  const { status, stdout, stderr } = spawnSync(command, [...args], { cwd, encoding: 'utf8', timeout: 50_000 });
  return { status, output: `${stdout}${stderr}` };
}

/** `^(a|b)/` and `^a/` name folders. */
function foldersIn(pattern = ''): string[] {
  return pattern
    .replace(/^\^\(?|\)?\/$/g, '')
    .split('|')
    .filter((folder) => /^[a-z]+$/.test(folder));
}

const layers = forbidden.filter(({ name }) => name.endsWith('-layer'));
const ruled = layers.map(({ name }) => name.replace(/-layer$/, ''));
const known = new Set([...ruled, ...layers.flatMap(({ to }) => foldersIn(to.path))]);

/** What the rules leave open to a folder: everything that they do not forbid. */
function allowedBy(folder: string): string {
  const never = new Set(foldersIn(layers.find(({ name }) => name === `${folder}-layer`)?.to.path));
  const types = new Set(foldersIn(forbidden.find(({ name }) => name === `${folder}-types-only`)?.to.path));
  const open = [...known].filter((other) => other !== folder && !never.has(other)).sort();
  return open.map((other) => (types.has(other) ? `${other} (types)` : other)).join(', ') || 'nothing';
}

describe('the dependency rules', () => {
  it('hold in the whole project', () => {
    const { status, output } = cruise(cruiseArguments, ROOT);
    expect(status === 0 ? '' : output).toBe('');
  });

  it('bite: a forbidden import, a run-time import where only types may pass, and a cycle are found', () => {
    const project = mkdtempSync(join(tmpdir(), 'deer-flow-rules-'));
    const files: Record<string, string> = {
      'tsconfig.json': '{}',
      'contracts/shared.ts': 'export interface Shared { id: string }\nexport const shared = 1;\n',
      'activities/work.ts': 'export const work = 1;\nexport interface Work { id: string }\n',
      'db/store.ts': 'export const store = 1;\n',
      'workflows/run.ts': [
        "import { store } from '../db/store';",
        "import { work } from '../activities/work';",
        "import type { Work } from '../activities/work';",
        'export const run: Work & { sum: number } = { id: "", sum: store + work };',
      ].join('\n'),
      'core/left.ts': "import { right } from './right';\nexport const left = () => right;\n",
      'core/right.ts': "import { left } from './left';\nexport const right = () => left;\n",
    };
    try {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(project, path)), { recursive: true });
        writeFileSync(join(project, path), text);
      }
      const folders = ['contracts', 'activities', 'db', 'workflows', 'core'];
      const { status, output } = cruise(['--config', CONFIG, '--output-type', 'json', ...folders], project);
      const { summary } = JSON.parse(output) as { summary: { violations: Array<{ rule: { name: string } }> } };
      const broken = [...new Set(summary.violations.map(({ rule }) => rule.name))].sort();
      expect({ status: status !== 0, broken }).toEqual({
        status: false,
        broken: ['no-cycles', 'workflows-layer', 'workflows-types-only'],
      });
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  });

  it('are applied to every folder with code', () => {
    const folders = new Set(
      projectFiles().flatMap((path) => (path.endsWith('.ts') && path.includes('/') ? [path.split('/')[0] ?? ''] : [])),
    );
    folders.delete('tests');
    expect([...folders].filter((folder) => !cruiseArguments.includes(folder))).toEqual([]);
    expect([...folders].filter((folder) => !known.has(folder))).toEqual([]);
  });

  it('are the table of folders in ARCHITECTURE.md', () => {
    const documented = Object.fromEntries(
      tableRows(readProjectFile('ARCHITECTURE.md'), '## Folders').map(([folder, , may]) => [
        plain(folder).replace(/\/$/, ''),
        plain(may).split(', ').sort().join(', '),
      ]),
    );
    const enforced = Object.fromEntries(ruled.map((folder) => [folder, allowedBy(folder)]));
    expect(documented).toEqual({ ...documented, ...enforced });
    const free = Object.keys(documented).filter((folder) => !ruled.includes(folder));
    expect(free.sort()).toEqual([...known].filter((folder) => !ruled.includes(folder)).sort());
  });
});

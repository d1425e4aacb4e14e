import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_STATUSES, SEARCH_ATTRIBUTES } from '../../contracts';
import { canBecome } from '../../core/run-status';
import { ROOT, plain, projectFiles, readProjectFile, tableRows } from './project';

const DOCUMENTS = projectFiles().filter((path) => /^([A-Z]+|docs\/.*)\.md$/.test(path));
const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: Record<string, string> };

const FOLDERS = new Set(projectFiles().flatMap((path) => (path.includes('/') ? [path.split('/')[0] ?? ''] : [])));

/** Files and folders of the project that a document names: in code, and as the targets of links. */
function namedPaths(document: string): string[] {
  const text = readProjectFile(document).replaceAll(/```[\s\S]*?```/g, '');
  const inCode = [...text.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)*\/?)`/g)].map(([, path]) => path ?? '');
  const isOurs = (path: string): boolean => path.includes('/') && FOLDERS.has(path.split('/')[0] ?? '');
  // A name with NNNN in it says how files are to be called.
  const ours = inCode.filter((path) => isOurs(path) && !path.includes('NNNN'));
  const folder = document.includes('/') ? document.slice(0, document.lastIndexOf('/')) : '';
  const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target]) => join(folder, target ?? ''));
  return [...new Set([...ours, ...links])];
}

describe('the documents', () => {
  it.each(DOCUMENTS)('%s names only files and folders that exist', (document) => {
    expect(namedPaths(document).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(DOCUMENTS)('%s names only commands that package.json has', (document) => {
    const named = [...readProjectFile(document).matchAll(/npm run ([a-z:]+)/g)].map(([, name]) => name ?? '');
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('ARCHITECTURE.md shows the run state machine as it is', () => {
    const rows = tableRows(readProjectFile('ARCHITECTURE.md'), '### Statuses').map(([from, to]) => [
      plain(from),
      plain(to),
    ]);
    const allowed = RUN_STATUSES.map((from) => [
      from,
      RUN_STATUSES.filter((to) => canBecome(from, to)).join(', ') || 'nothing: terminal',
    ]);
    expect(rows).toEqual(allowed);
  });

  it('docs/runbook.md names every search attribute', () => {
    const runbook = readProjectFile('docs/runbook.md');
    expect(Object.values(SEARCH_ATTRIBUTES).filter((name) => !runbook.includes(`\`${name}\``))).toEqual([]);
  });

  it('AGENTS.md fits on one page', () => {
    expect(readProjectFile('AGENTS.md').trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  });
});

describe('the decision records', () => {
  const records = projectFiles().flatMap((path) => /^docs\/decisions\/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[0] ?? []);
  const names = records.map((path) => path.replace('docs/decisions/', ''));

  it('are numbered from 1 without gaps or doubles', () => {
    const numbers = names.map((name) => Number(name.slice(0, 4)));
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers).toEqual(numbers.map((_, place) => place + 1));
  });

  it('are listed, each with its title, in docs/decisions/README.md', () => {
    const listed = [...readProjectFile('docs/decisions/README.md').matchAll(/^- \[(.+)\]\((\d{4}-.+\.md)\)$/gm)];
    const titles = names.map((name) => {
      const heading = readProjectFile(`docs/decisions/${name}`).split('\n')[0] ?? '';
      return [heading.replace(/^# /, ''), name];
    });
    expect(listed.map(([, title, name]) => [title, name])).toEqual(titles);
  });

  it.each(names)('%s says what it answers, what was decided, what follows and what else was considered', (name) => {
    const headings = readProjectFile(`docs/decisions/${name}`).match(/^## .+$/gm);
    expect(headings).toEqual(['## Context', '## Decision', '## Consequences', '## Considered']);
  });
});

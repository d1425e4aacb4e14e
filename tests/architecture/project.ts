/** What the architecture tests read of the project: its files, its documents and their tables. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import * as ts from 'typescript';

export const ROOT = join(__dirname, '..', '..');

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git', '.cache', '.deer-flow']);

export function readProjectFile(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Every file that is or is about to be part of the project, by its path from the root. */
export function projectFiles(): string[] {
  const listed = existsSync(join(ROOT, '.git')) ? filesKnownToGit() : filesOnDisk(ROOT);
  return listed.filter((path) => existsSync(join(ROOT, path))).sort();
}

function filesKnownToGit(): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const output = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return [...new Set(output.split('\0').filter((path) => path !== ''))];
}

/** A copy of the project without its history. */
function filesOnDisk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesOnDisk(path) : [relative(ROOT, path)];
  });
}

export function sourcesIn(folders: readonly string[]): string[] {
  return projectFiles().filter(
    (path) => path.endsWith('.ts') && folders.some((folder) => path.startsWith(`${folder}/`)),
  );
}

export function parseSource(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readProjectFile(path), ts.ScriptTarget.ES2022, true);
}

export function placeOf(source: ts.SourceFile, node: ts.Node): string {
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

/** The cells of all tables of a document, or of those under one heading; without the head rows. */
export function tableRows(document: string, heading?: string): string[][] {
  const lines = document.split('\n');
  const from = heading === undefined ? 0 : lines.indexOf(heading) + 1;
  if (heading !== undefined && from === 0) throw new Error(`The document has no heading "${heading}"`);
  const until = heading === undefined ? -1 : lines.findIndex((line, place) => place >= from && /^#{1,3} /.test(line));
  const section = lines.slice(from, until < 0 ? undefined : until);
  return section.flatMap((line, place) => {
    const isHead = /^\|[\s:|-]+\|$/.test(section[place + 1] ?? '');
    return /^\|.*\|$/.test(line) && !isHead && !/^\|[\s:|-]+\|$/.test(line) ? [cellsOf(line)] : [];
  });
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Cell text without the marks of code. */
export function plain(cell: string | undefined): string {
  return (cell ?? '').replaceAll('`', '').trim();
}

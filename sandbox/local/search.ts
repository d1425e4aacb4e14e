/** Listing, glob and grep over the virtual tree. */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../contracts';
import { LIST_DIRECTORY_LIMIT, type GlobOptions, type GrepMatch, type GrepOptions } from '../sandbox';
import type { PathTable, ResolvedPath } from '../virtual-paths';
import { createBoundedMatcher } from './bounded-match';
import { nextPortion, readDirectory, walk, type Entry, type WalkOptions } from './directory-walk';
import { errorCode } from '../file-errors';
import { createGlobMatcher, createLineMatcher } from './patterns';
import { openFile, openListedFile, type OpenFile } from './safe-files';

const LARGEST_SEARCHED_FILE = 1_000_000;
const NUL_WINDOW = 8_192;
const LONGEST_LINE = 2_000;
const SHOWN_LINE = 200;
/** Files read side by side; together they bound the memory of a search. */
const FILES_AT_ONCE = 16;

/** Level by level, so that one huge directory does not hide its neighbours where the limit cuts the listing. */
export async function listEntries(
  table: PathTable,
  start: ResolvedPath,
  maxDepth: number,
  options: WalkOptions,
): Promise<string[]> {
  const found: string[] = [];
  let level = [{ path: start, relative: '' }];
  for (let depth = 0; depth < maxDepth && found.length < LIST_DIRECTORY_LIMIT; depth += 1) {
    const next: typeof level = [];
    for (const directory of level) {
      const portions = readDirectory(table, directory.path, directory.relative, options);
      try {
        for (
          let portion = await nextPortion(portions, depth > 0);
          portion;
          portion = await nextPortion(portions, true)
        ) {
          found.push(...portion.map((entry) => entry.path.virtual + (entry.kind === 'directory' ? '/' : '')));
          next.push(...portion.filter((entry) => entry.kind === 'directory'));
          if (found.length >= LIST_DIRECTORY_LIMIT) break;
        }
      } finally {
        await portions.return(undefined);
      }
      if (found.length >= LIST_DIRECTORY_LIMIT) break;
    }
    level = next;
  }
  return found.slice(0, LIST_DIRECTORY_LIMIT).sort();
}

export async function findPaths(
  table: PathTable,
  start: ResolvedPath,
  pattern: string,
  options: GlobOptions,
): Promise<{ paths: string[]; truncated: boolean }> {
  const matches = createGlobMatcher(pattern);
  const matcher = createBoundedMatcher();
  const isWanted = (entry: Entry) =>
    options.includeDirectories || (entry.kind !== 'directory' && entry.kind !== 'link-to-directory');
  const paths: string[] = [];
  for await (const portion of walk(table, start, options)) {
    const found = matcher.run(() => portion.filter((entry) => isWanted(entry) && matches(entry.relative)));
    paths.push(...found.map((entry) => entry.path.virtual));
    if (paths.length > options.maxResults) break;
  }
  return { paths: paths.slice(0, options.maxResults), truncated: paths.length > options.maxResults };
}

export async function findLines(
  table: PathTable,
  start: ResolvedPath,
  pattern: string,
  options: GrepOptions,
): Promise<{ matches: GrepMatch[]; truncated: boolean }> {
  const matches = createLineMatcher(pattern, options);
  const isSearched = options.glob === null ? () => true : createGlobMatcher(options.glob);
  const matcher = createBoundedMatcher();
  const found: GrepMatch[] = [];

  /** Searches files in their order; says whether there is room for more matches. */
  const search = (files: Array<{ path: ResolvedPath; lines: string[] }>): boolean => {
    const hits = matcher.run(() =>
      files.flatMap(({ path, lines }) =>
        matchingLines(lines, matches, options.maxResults + 1).map((hit) => ({ path: path.virtual, ...hit })),
      ),
    );
    found.push(...hits);
    return found.length <= options.maxResults;
  };

  const single = await singleFile(start);
  if (single) {
    search([{ path: start, lines: single }]);
  } else {
    walking: for await (const portion of walk(table, start, options)) {
      const wanted = matcher.run(() => portion.filter((entry) => entry.kind === 'file' && isSearched(entry.relative)));
      for (let index = 0; index < wanted.length; index += FILES_AT_ONCE) {
        options.signal?.throwIfAborted();
        const files = wanted.slice(index, index + FILES_AT_ONCE).map(async ({ path }) => ({
          path,
          lines: await linesOf(() => openListedFile(path)),
        }));
        if (!search(await Promise.all(files))) break walking;
      }
    }
  }
  return { matches: found.slice(0, options.maxResults), truncated: found.length > options.maxResults };
}

/** The lines of the start of a search where it is a file; null where it is a directory or missing, for the walk to tell. */
async function singleFile(start: ResolvedPath): Promise<string[] | null> {
  if (start.host === null) return null;
  try {
    const file = await openFile(start);
    return await linesOf(async () => file);
  } catch (error) {
    const isNoFile = error instanceof AppError && error.code === 'bad_request';
    if (isNoFile || errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Lines of a text file; none of a file that is large, binary or out of reach. */
async function linesOf(openIt: () => Promise<OpenFile>): Promise<string[]> {
  try {
    const { handle, size } = await openIt();
    try {
      if (size === 0 || size > LARGEST_SEARCHED_FILE) return [];
      const content = await handle.readFile();
      if (content.subarray(0, NUL_WINDOW).includes(0)) return [];
      return content.toString(isUtf8(content) ? 'utf8' : 'latin1').split('\n');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof AppError || errorCode(error) !== undefined) return [];
    throw error;
  }
}

function matchingLines(
  lines: string[],
  matches: (line: string) => boolean,
  most: number,
): Array<{ lineNumber: number; line: string }> {
  const hits: Array<{ lineNumber: number; line: string }> = [];
  for (let index = 0; index < lines.length && hits.length < most; index += 1) {
    const line = (lines[index] ?? '').replace(/\r$/, '');
    if (line.length > LONGEST_LINE || !matches(line)) continue;
    hits.push({ lineNumber: index + 1, line: line.length > SHOWN_LINE ? `${line.slice(0, SHOWN_LINE - 3)}...` : line });
  }
  return hits;
}

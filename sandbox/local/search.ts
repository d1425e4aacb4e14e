/** Listing, glob and grep over the virtual tree (sandbox specification 4.2). */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../contracts';
import { LIST_DIRECTORY_LIMIT, type GlobOptions, type GrepMatch, type GrepOptions } from '../sandbox';
import type { PathTable, ResolvedPath } from '../virtual-paths';
import { createBoundedMatcher } from './bounded-match';
import { nextPortion, readDirectory, walk, type Entry, type WalkOptions } from './directory-walk';
import { errorCode } from '../file-errors';
import { createGlobMatcher, createLineMatcher } from './patterns';
import { openFile } from './safe-files';

const LARGEST_SEARCHED_FILE = 1_000_000;
const NUL_WINDOW = 8_192;
const LONGEST_LINE = 2_000;
const SHOWN_LINE = 200;

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

  const search = async (path: ResolvedPath): Promise<boolean> => {
    options.signal?.throwIfAborted();
    const lines = await searchableLines(path);
    const hits = matcher.run(() => matchingLines(lines, matches, options.maxResults + 1 - found.length));
    found.push(...hits.map((hit) => ({ path: path.virtual, ...hit })));
    return found.length <= options.maxResults;
  };

  if (!(await searchSingleFile(start, search))) {
    walking: for await (const portion of walk(table, start, options)) {
      const wanted = matcher.run(() => portion.filter((entry) => entry.kind === 'file' && isSearched(entry.relative)));
      for (const entry of wanted) {
        if (!(await search(entry.path))) break walking;
      }
    }
  }
  return { matches: found.slice(0, options.maxResults), truncated: found.length > options.maxResults };
}

/** Searches the path where it is a file; says whether it was one. */
async function searchSingleFile(
  start: ResolvedPath,
  search: (path: ResolvedPath) => Promise<boolean>,
): Promise<boolean> {
  if (start.host === null) return false;
  try {
    const { handle } = await openFile(start);
    await handle.close();
  } catch (error) {
    // A directory, or something that the walk reports in its own words.
    if (error instanceof AppError && error.code === 'bad_request') return false;
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
  await search(start);
  return true;
}

/** Lines of a text file; none of a file that is large, binary or out of reach. */
async function searchableLines(path: ResolvedPath): Promise<string[]> {
  try {
    const { handle, size } = await openFile(path);
    try {
      if (size > LARGEST_SEARCHED_FILE) return [];
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

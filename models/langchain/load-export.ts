/** Finds what a package of the user's exports, be the package of CommonJS or an ES module. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export interface LoadExportOptions {
  packageName: string;
  /** What the package offers beside its main entry: '' or '/chat_models'. */
  subpath: string;
  exported: string;
  /** Where packages are looked for, one folder after the other, and in the folders above each. */
  folders: readonly string[];
}

/** A problem is words for the user; its cause is for the log. */
export type LoadedExport = { value: unknown } | { problem: string; cause?: unknown };

export function loadExport(options: LoadExportOptions): LoadedExport {
  const { packageName, subpath, exported, folders } = options;
  const specifier = `${packageName}${subpath}`;
  for (const folder of folders) {
    const load = createRequire(join(folder, 'package.json'));
    const paths = load.resolve.paths(packageName) ?? [];
    const home = paths.map((path) => join(path, packageName)).find((path) => existsSync(join(path, 'package.json')));
    if (home === undefined) continue;
    try {
      const value: unknown = Reflect.get(Object(loadFrom(load, home, options)) as object, exported);
      return value === undefined ? { problem: `the package ${specifier} has no export ${exported}` } : { value };
    } catch (cause) {
      return { problem: problemOf(specifier, cause), cause };
    }
  }
  return { problem: `the package ${packageName} is not installed: npm install ${packageName}` };
}

function loadFrom(load: NodeJS.Require, home: string, { packageName, subpath }: LoadExportOptions): unknown {
  try {
    return load(`${packageName}${subpath}`);
  } catch (error) {
    if (codeOf(error) !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error;
    const file = importedFile(home, subpath);
    if (file === null) throw error;
    return load(join(home, file));
  }
}

/** Some packages say only what `import` gets. Node loads that with `require` as well, once it knows the file. */
function importedFile(home: string, subpath: string): string | null {
  const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { exports?: unknown };
  const entries = typeof exports === 'object' && exports !== null ? exports : { '.': exports };
  const hasPaths = Object.keys(entries).some((name) => name.startsWith('.'));
  return targetOf(hasPaths ? Reflect.get(entries, `.${subpath}`) : subpath === '' ? entries : undefined);
}

function targetOf(entry: unknown): string | null {
  if (typeof entry === 'string') return entry.startsWith('./') ? entry : null;
  if (typeof entry !== 'object' || entry === null) return null;
  const inner = ['node', 'import', 'default'].map((condition) => targetOf(Reflect.get(entry, condition)));
  return inner.find((target) => target !== null) ?? null;
}

function problemOf(specifier: string, cause: unknown): string {
  const missing = /Cannot find (?:module|package) '([^']+)'/.exec(cause instanceof Error ? cause.message : '')?.[1];
  switch (codeOf(cause)) {
    case 'ERR_PACKAGE_PATH_NOT_EXPORTED':
      return `the package ${specifier} offers nothing under this name`;
    case 'ERR_REQUIRE_ASYNC_MODULE':
      return `the package ${specifier} waits for something while it is loaded, which is not possible here`;
    case 'MODULE_NOT_FOUND':
    case 'ERR_MODULE_NOT_FOUND':
      if (missing === specifier) return `the package ${specifier} offers nothing under this name`;
      if (missing !== undefined && /^[@\w][\w./@-]*$/.test(missing)) {
        return `the package ${specifier} needs ${missing}, which is not installed: npm install ${missing}`;
      }
  }
  return `the package ${specifier} cannot be loaded`;
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
}

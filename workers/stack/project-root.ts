import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of package.json: the same whether this runs from the sources or from the build. */
export function findInstallation(from = __dirname): string {
  let directory = from;
  while (!existsSync(join(directory, 'package.json'))) {
    const parent = dirname(directory);
    if (parent === directory) return from;
    directory = parent;
  }
  return directory;
}

/** A compiled file. Processes always run from the build. */
export function builtFile(path: string): string {
  return join(findInstallation(), 'dist', path);
}

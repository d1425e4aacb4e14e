/**
 * `npm run start:api` and `npm run start:worker`: one part of the product as a process of its own. It gets its servers
 * from the environment, or from the stack that runs on the same home.
 */
import { readFileSync } from 'node:fs';
import Module from 'node:module';
import { join } from 'node:path';
import { loadConfig, requireDeployable } from '../../config';
import { AppError } from '../../contracts';
import { partHelp } from './help';
import { homePaths } from './home';
import { runningStack } from './home-lock';
import { parseStackOptions, type StackOptions } from './options';
import { choosePorts } from './ports';
import { postgresUrl } from './postgres/postgres-server';
import { builtFile } from './project-root';

export type PartName = 'api' | 'worker';

const ENTRY_POINTS: Readonly<Record<PartName, string>> = { api: 'api/server.js', worker: 'workers/worker.js' };

/** Becomes the part: its entry point runs in this process, with the environment that the flags describe. */
export async function runPart(name: PartName): Promise<void> {
  const options = parseStackOptions({ argv: process.argv.slice(2), env: process.env, cwd: process.cwd() });
  if (options.help) {
    process.stdout.write(partHelp(name));
    process.exit();
  }
  requireDeployable(loadConfig({ env: options.env, cwd: process.cwd() }).config, options.env);
  const servers = serversOf(options, name);
  Object.assign(process.env, options.env, servers, { DEER_FLOW_HOME: options.home });
  if (name === 'api') process.env.GATEWAY_PORT = String(await chooseApiPort(options));
  process.argv = [process.execPath, builtFile(ENTRY_POINTS[name])];
  Module.runMain();
}

interface ServerAddresses {
  DATABASE_URL: string;
  TEMPORAL_ADDRESS: string;
}

export function serversOf({ environment, home }: StackOptions, name: PartName): ServerAddresses {
  const running = runningStack(home)?.addresses;
  const databaseUrl = environment.database.url ?? embeddedUrl(home, running?.postgresPort);
  const temporalAddress = environment.temporal.address ?? running?.temporalAddress;
  if (databaseUrl !== undefined && temporalAddress !== undefined) {
    return { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress };
  }
  const missing = [databaseUrl === undefined && 'DATABASE_URL', temporalAddress === undefined && 'TEMPORAL_ADDRESS'];
  throw new AppError(
    'configuration',
    `start:${name} needs ${missing.filter(Boolean).join(' and ')}, or a stack that runs on the home ${home} ` +
      '("npm start" starts everything).',
  );
}

function embeddedUrl(home: string, port: number | undefined): string | undefined {
  if (port === undefined) return undefined;
  return postgresUrl(port, readFileSync(join(homePaths(home).postgres, 'password'), 'utf8').trim());
}

async function chooseApiPort(options: StackOptions): Promise<number> {
  const { host, port: preferred } = options.environment.gateway;
  const remedy = 'choose another with --port or GATEWAY_PORT';
  const [port = 0] = await choosePorts([{ named: options.apiPort, preferred, host, purpose: 'the API', remedy }]);
  if (options.apiPort === undefined && port !== preferred) {
    process.stderr.write(`Port ${preferred} is taken: the API gets port ${port}.\n`);
  }
  return port;
}

/** The servers of a stack: what an earlier start left is ended, and the two are started together. */
import { AppError } from '../../contracts';
import type { ProcessRecords } from './process-records';
import type { Progress } from './progress';
import { checkDatabase, postgresService, checkTemporal, temporalService, type ServerContext } from './servers';
import { withReplaceablePorts, type ServerPorts } from './stack-ports';
import type { Service } from './supervisor';

const LEFTOVER_GRACE_MS = 15_000;

/**
 * Starts those that are not given, both at once.
 * @param keep supervises a service and returns when it does its work.
 * @returns the environment of the worker and the API.
 */
export async function startServers(
  context: ServerContext & { giveUp: AbortController },
  ports: ServerPorts,
  keep: (service: Service) => Promise<void>,
): Promise<NodeJS.ProcessEnv> {
  const { options, progress } = context;
  let databaseUrl = options.environment.database.url;
  const database = async () => {
    if (databaseUrl !== null) return checkDatabase(databaseUrl);
    progress.step('Starting PostgreSQL...');
    const service = postgresService(context, ports, (url) => (databaseUrl = url));
    await keep(withReplaceablePorts(service, ports, ['postgres']));
  };
  const temporal = async () => {
    const given = options.environment.temporal.address;
    if (given !== null) return checkTemporal(given);
    const service = await temporalService(context, ports);
    progress.step('Starting Temporal...');
    await keep(withReplaceablePorts(service, ports, ['temporal', 'temporalUi']));
  };
  await allOrFirstFailure([database(), temporal()], context.giveUp);
  if (databaseUrl === null) throw new AppError('internal', 'PostgreSQL started without an address.');
  return {
    ...options.env,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: options.environment.temporal.address ?? `127.0.0.1:${ports.temporal}`,
    GATEWAY_HOST: options.environment.gateway.host,
    DEER_FLOW_HOME: options.home,
  };
}

export async function endLeftovers(records: ProcessRecords, progress: Progress): Promise<void> {
  const ended = await records.endLeftovers({ graceMs: LEFTOVER_GRACE_MS });
  if (ended.length > 0) progress.step(`Ended what an earlier start had left running: ${ended.join(', ')}.`);
}

/**
 * Where one fails, the others are told to give up. All are waited for: what is still starting must be known before it
 * can be stopped.
 */
export async function allOrFirstFailure(tasks: Promise<void>[], giveUp: AbortController): Promise<void> {
  let failure: { error: unknown } | undefined;
  const noted = tasks.map((task) =>
    task.catch((error: unknown) => {
      failure ??= { error };
      giveUp.abort();
    }),
  );
  await Promise.all(noted);
  if (failure) throw failure.error;
}

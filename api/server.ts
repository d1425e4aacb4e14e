/** Process entry point of the API: listens, and drains on SIGTERM. */
import { announceConfig, createLiveConfig, loadConfig, openLiveExtensions, processEnvironment } from '../config';
import { isAppError } from '../contracts';
import { createLogger } from '../observability';
import { startApi } from './start-api';

/** A process that cannot close its connections in this time ends without. */
const STOP_LIMIT_MS = 9_000;

async function main(): Promise<void> {
  const cwd = process.cwd();
  const { env, environment } = processEnvironment(cwd);
  const location = { env, cwd };
  const loaded = loadConfig(location);
  const log = createLogger({
    name: 'api',
    level: environment.logLevel ?? loaded.config.log_level,
    pretty: environment.logFormat === 'pretty',
  });
  announceConfig({ loaded, env, log });
  // Until the API listens there is nothing to drain.
  let stop = (): void => process.exit(0);
  for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'draining');
      stop();
    });
  }
  const live = createLiveConfig({ location, first: loaded, log });
  live.watch();
  const extensions = openLiveExtensions({ location, overrides: () => live.current().extensions, log });
  const api = await startApi({ environment, live, extensions, log });
  process.send?.({ type: 'ready', port: api.port });

  await new Promise<void>((resolve) => (stop = resolve));
  setTimeout(() => process.exit(0), STOP_LIMIT_MS).unref();
  await api.stop();
  log.info('stopped');
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(
      `${isAppError(error) ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
    );
    process.exit(1);
  },
);

/** Process entry point of a worker: polls the task queue, executes workflows and activities, drains on SIGTERM. */
import { announceConfig, loadConfig, processEnvironment } from '../config';
import { isAppError } from '../contracts';
import { createLogger } from '../observability';
import { startWorker } from './start-worker';

async function main(): Promise<void> {
  const { env, environment } = processEnvironment();
  const loaded = loadConfig({ env, cwd: process.cwd() });
  const log = createLogger({
    name: 'worker',
    level: environment.logLevel ?? loaded.config.log_level,
    pretty: environment.logFormat === 'pretty',
  });
  announceConfig({ loaded, env, log });
  const worker = await startWorker({ environment, env, config: loaded.config, log });
  process.send?.({ type: 'ready' });

  const stop = (signal: string): void => {
    log.info({ signal }, 'draining');
    worker.shutdown();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // The supervisor is gone: nobody would stop this process any more.
  process.once('disconnect', () => stop('disconnect'));

  await worker.finished;
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

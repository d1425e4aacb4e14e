/**
 * Preloaded into the worker and the API of a stack: when the supervisor is gone, however it went, its IPC channel
 * closes and the process ends as if it had been asked to, and after a while without asking.
 */
const GRACE_MS = 10_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), GRACE_MS).unref();
  process.kill(process.pid, 'SIGTERM');
});

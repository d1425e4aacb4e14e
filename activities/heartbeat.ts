import { Context } from '@temporalio/activity';

/** Also how soon a Stop reaches an activity: cancellation travels on the answer to a heartbeat. */
const HEARTBEAT_INTERVAL_MS = 1_000;

/**
 * Keeps the server informed on a timer until `work` is over. The first heartbeat comes after one interval: the start of
 * an activity tells as much, and each costs the server a write, which steps of milliseconds should not pay.
 */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

import { Context } from '@temporalio/activity';

/** Also how soon a Stop reaches an activity: cancellation travels on the answer to a heartbeat. */
const HEARTBEAT_INTERVAL_MS = 1_000;

/** Keeps the server informed, on a timer and before the first await, until `work` is over. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  context.heartbeat();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

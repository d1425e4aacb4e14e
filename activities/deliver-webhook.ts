import { createHmac } from 'node:crypto';
import { toRunRecord } from '../db';
import { createSafeHttp } from '../sandbox';
import { AppError, isAppError } from '../contracts';
import type { Logger } from '../observability';
import { runLogger } from '../observability';
import type { ActivityDependencies } from './dependencies';

const TIMEOUT_MS = 15_000;
const HTTP_OK_FROM = 200;
const HTTP_OK_TO = 300;

/** Tells the address that the request named how the run ended. Thrown errors are tried again by the workflow. */
export async function deliverWebhook(deps: ActivityDependencies, runId: string, signal: AbortSignal): Promise<void> {
  const row = await deps.stores.runs.load(runId);
  const url = row?.options.webhook;
  if (row === null || url === undefined) return;
  const body = JSON.stringify(toRunRecord(row));
  // Where requests may go is the operator's word of today, not of the time when the run began.
  const { config } = await deps.setups.newest();
  const http = createSafeHttp({ allowPrivateAddresses: config.runs.webhook_allow_private_addresses });
  const request = {
    body,
    signal,
    timeoutMs: TIMEOUT_MS,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': runId,
      'x-deerflow-signature': `sha256=${createHmac('sha256', deps.webhookKey).update(body).digest('hex')}`,
    },
  };
  const { status } = await http.post(url, request).catch((error: unknown) => {
    throw withoutAddress(error, runLogger(deps.log, { runId, threadId: row.threadId }));
  });
  if (status < HTTP_OK_FROM || status >= HTTP_OK_TO) {
    throw new AppError('unavailable', `The webhook answered ${status}.`);
  }
}

/** The address belongs to the user: it goes to the log, not into the workflow's history. */
function withoutAddress(error: unknown, log: Logger): unknown {
  if (!isAppError(error)) return error;
  log.warn({ err: error }, 'a webhook could not be told');
  const text =
    error.code === 'unsafe_url' ? 'The address of the webhook is not allowed.' : 'The webhook did not answer.';
  return new AppError(error.code, text);
}

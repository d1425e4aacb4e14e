/** What operators can filter by. A server that we did not start may not know these yet. */
import { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { AppError } from '../../contracts';

export const SEARCH_ATTRIBUTES = ['DeerFlowOwner', 'DeerFlowThread', 'DeerFlowKind', 'DeerFlowStatus'] as const;

const REQUEST_LIMIT_MS = 10_000;

/** Registers those that a given server lacks. Safe to repeat, and when several processes do it at once. */
export async function ensureSearchAttributes(address: string, namespace: string): Promise<void> {
  const connection = await connect(address);
  try {
    const { operatorService } = connection;
    const call = <T>(request: () => Promise<T>) => connection.withDeadline(Date.now() + REQUEST_LIMIT_MS, request);
    const known = await call(() => operatorService.listSearchAttributes({ namespace }));
    const missing = SEARCH_ATTRIBUTES.filter((name) => !(name in (known.customAttributes ?? {})));
    if (missing.length === 0) return;
    const type = temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, type]));
    await call(() => operatorService.addSearchAttributes({ namespace, searchAttributes }));
  } catch (cause) {
    if (isAlreadyThere(cause)) return;
    throw new AppError(
      'unavailable',
      `The Temporal server at ${address} does not let us register search attributes: ${(cause as Error).message}. ` +
        `Register ${SEARCH_ATTRIBUTES.join(', ')} (type Keyword) in namespace ${namespace}.`,
      { cause },
    );
  } finally {
    await connection.close();
  }
}

async function connect(address: string): Promise<Connection> {
  try {
    return await Connection.connect({ address, connectTimeout: 10_000 });
  } catch (cause) {
    throw new AppError('unavailable', `The Temporal server at ${address} (TEMPORAL_ADDRESS) does not answer.`, {
      cause,
    });
  }
}

/** gRPC status 6: another process was quicker. */
function isAlreadyThere(error: unknown): boolean {
  return (error as { code?: unknown }).code === 6;
}

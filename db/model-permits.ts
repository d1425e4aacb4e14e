import type { Database } from './database';
import { translateErrors } from './errors';

/** One pace for a group of models. */
export interface Pace {
  key: string;
  /** What all who share the pace must agree on. */
  policy: { requests_per_minute: number; max_wait_seconds: number; max_queue_size: number };
}

export interface Turn {
  state: 'admitted' | 'waiting' | 'full' | 'changed' | 'lost';
  ticket: number | null;
  /** Milliseconds until the turn of the ticket, if nobody before it goes away. */
  waitMs: number;
}

export interface Circuit {
  failures: number;
  /** Milliseconds for which the model is still left alone; 0 where it is not. */
  openMs: number;
}

/** When a model may be asked, over all workers. The functions of the database decide; nothing is kept here. */
export interface ModelPermitStore {
  /** Asks for a turn, or asks again with the ticket of an earlier answer. */
  admit(pace: Pace, ticket: number | null, leaseMs: number): Promise<Turn>;
  leaveQueue(pace: Pace, ticket: number): Promise<void>;
  /** Takes or renews a place among the calls under way. Null where its lease was over. */
  takeSlot(limit: number, ticket: number | null, leaseMs: number): Promise<{ ticket: number; held: boolean } | null>;
  freeSlot(ticket: number): Promise<void>;
  circuit(model: string): Promise<Circuit>;
  /** Counts a failure; at the threshold the model is left alone for so long. */
  countFailure(model: string, options: { threshold: number; recoveryMs: number }): Promise<void>;
  closeCircuit(model: string): Promise<void>;
  /** Whether the caller is the one who tries a model out whose time is over. */
  takeProbe(model: string, leaseMs: number): Promise<boolean>;
  /** A try that was ended meanwhile stays ended. */
  renewProbe(model: string, leaseMs: number): Promise<void>;
  freeProbe(model: string): Promise<void>;
}

const MS_PER_MINUTE = 60_000;

export function createModelPermitStore({ pool }: Database): ModelPermitStore {
  const run = async (name: string, text: string, values: unknown[]): Promise<void> => {
    await translateErrors(() => pool.query({ name, text, values }));
  };
  return {
    admit: ({ key, policy }, ticket, leaseMs) =>
      translateErrors(async () => {
        const { rows } = await pool.query<Turn>({
          name: 'admit-model-call',
          text: 'select state, ticket, wait_ms as "waitMs" from admit_model_call($1, $2, $3, $4, $5, $6)',
          values: [
            key,
            JSON.stringify(policy),
            MS_PER_MINUTE / policy.requests_per_minute,
            policy.max_queue_size,
            ticket,
            leaseMs,
          ],
        });
        return rows[0] ?? { state: 'lost', ticket: null, waitMs: 0 };
      }),
    leaveQueue: ({ key }, ticket) =>
      run('leave-model-queue', 'delete from model_waiters where key = $1 and ticket = $2', [key, ticket]),
    takeSlot: (limit, ticket, leaseMs) =>
      translateErrors(async () => {
        const { rows } = await pool.query<{ ticket: number; held: boolean }>({
          name: 'take-model-slot',
          text: 'select ticket, held from take_model_slot($1, $2, $3)',
          values: [limit, ticket, leaseMs],
        });
        return rows[0] ?? null;
      }),
    freeSlot: (ticket) => run('free-model-slot', 'delete from model_slots where ticket = $1', [ticket]),
    circuit: (model) =>
      translateErrors(async () => {
        const { rows } = await pool.query<Circuit>({
          name: 'model-circuit',
          text: `select failures,
                   greatest(0, extract(epoch from coalesce(open_until, now()) - now()) * 1000)::float8 as "openMs"
                 from model_circuits where model = $1`,
          values: [model],
        });
        return rows[0] ?? { failures: 0, openMs: 0 };
      }),
    countFailure: (model, { threshold, recoveryMs }) =>
      run(
        'count-model-failure',
        `insert into model_circuits as c (model, failures, open_until)
         values ($1, 1, case when $2 <= 1 then now() + $3::float8 * interval '1 millisecond' end)
         on conflict (model) do update set failures = c.failures + 1, probe_until = null,
           open_until = case when c.failures + 1 >= $2 then now() + $3::float8 * interval '1 millisecond' end`,
        [model, threshold, recoveryMs],
      ),
    closeCircuit: (model) => run('close-model-circuit', 'delete from model_circuits where model = $1', [model]),
    takeProbe: (model, leaseMs) =>
      translateErrors(async () => {
        const { rowCount } = await pool.query({
          name: 'take-model-probe',
          text: `update model_circuits set probe_until = now() + $2::float8 * interval '1 millisecond'
                 where model = $1 and coalesce(open_until, now()) <= now() and coalesce(probe_until, now()) <= now()`,
          values: [model, leaseMs],
        });
        return rowCount === 1;
      }),
    renewProbe: (model, leaseMs) =>
      run(
        'renew-model-probe',
        `update model_circuits set probe_until = now() + $2::float8 * interval '1 millisecond'
         where model = $1 and probe_until is not null`,
        [model, leaseMs],
      ),
    freeProbe: (model) =>
      run('free-model-probe', 'update model_circuits set probe_until = null where model = $1', [model]),
  };
}

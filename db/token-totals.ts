/** What the runs of a thread have used. The lead agent's tokens are in the run's row, all others' beside it. */
import type { Queryable } from './database';
import { translateErrors } from './errors';

export interface TokenTotals {
  totalTokens: number;
  totalInputTokens: number;
  totalOutputTokens: number;
  totalRuns: number;
  /** Adds up to the total; runs that used several models count at each. */
  byModel: Record<string, { tokens: number; runs: number }>;
  leadAgent: number;
  subagent: number;
  middleware: number;
}

interface TotalsRow {
  runs: number;
  total: number;
  input: number;
  output: number;
  lead: number;
  subagent: number;
  middleware: number;
  models: TokenTotals['byModel'];
}

const TOTALS = `
  with counted as (
    select * from runs where thread_id = $1 and ($2 or admission = 'ended')),
  shares as (
    select run_id, model_name as model, lead_agent_tokens as tokens from counted where model_name is not null
    union all
    select run_id, s.model, s.total_tokens from counted join run_side_usage s using (run_id)),
  models as (
    select model, sum(tokens)::bigint as tokens, count(distinct run_id) as runs from shares group by model)
  select count(*) as runs, coalesce(sum(total_tokens), 0)::bigint as total,
         coalesce(sum(total_input_tokens), 0)::bigint as input,
         coalesce(sum(total_output_tokens), 0)::bigint as output,
         coalesce(sum(lead_agent_tokens), 0)::bigint as lead,
         coalesce(sum(subagent_tokens), 0)::bigint as subagent,
         coalesce(sum(middleware_tokens), 0)::bigint as middleware,
         coalesce((select jsonb_object_agg(model, jsonb_build_object('tokens', tokens, 'runs', runs)) from models), '{}')
           as models
  from counted`;

export async function readTokenTotals(
  client: Queryable,
  threadId: string,
  includeActive: boolean,
): Promise<TokenTotals> {
  return translateErrors(async () => {
    const { rows } = await client.query<TotalsRow>(TOTALS, [threadId, includeActive]);
    const [row] = rows;
    return {
      totalTokens: row?.total ?? 0,
      totalInputTokens: row?.input ?? 0,
      totalOutputTokens: row?.output ?? 0,
      totalRuns: row?.runs ?? 0,
      byModel: row?.models ?? {},
      leadAgent: row?.lead ?? 0,
      subagent: row?.subagent ?? 0,
      middleware: row?.middleware ?? 0,
    };
  });
}

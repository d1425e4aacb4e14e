-- Tokens of model calls that are not the lead agent's: they may be of another model, and totals by model must add up.

create table run_side_usage (
  run_id uuid not null references runs on delete cascade,
  -- middleware:<name> or subagent:<name>
  caller text not null,
  model text not null,
  calls int not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  total_tokens bigint not null,
  primary key (run_id, caller, model)
);

-- A step of commit_step whose model call was not the lead agent's. Keys of p besides those of commit_step:
--   side_usage        {caller, model, calls, input, output, total}
create function commit_side_step(p jsonb) returns jsonb language plpgsql as $$
declare
  v_run uuid := (p ->> 'run_id')::uuid;
  v_usage jsonb := p -> 'side_usage';
  v_caller text := v_usage ->> 'caller';
  v_total bigint := (v_usage ->> 'total')::bigint;
  v_result jsonb;
begin
  -- First the locks of the thread and the run's stream, as everywhere.
  v_result := commit_step(p);
  insert into run_side_usage as known (run_id, caller, model, calls, input_tokens, output_tokens, total_tokens)
    values (v_run, v_caller, v_usage ->> 'model', (v_usage ->> 'calls')::int, (v_usage ->> 'input')::bigint,
            (v_usage ->> 'output')::bigint, v_total)
    on conflict (run_id, caller, model) do update set
      calls = known.calls + excluded.calls,
      input_tokens = known.input_tokens + excluded.input_tokens,
      output_tokens = known.output_tokens + excluded.output_tokens,
      total_tokens = known.total_tokens + excluded.total_tokens;
  update runs set
      llm_call_count = llm_call_count + (v_usage ->> 'calls')::int,
      total_input_tokens = total_input_tokens + (v_usage ->> 'input')::bigint,
      total_output_tokens = total_output_tokens + (v_usage ->> 'output')::bigint,
      total_tokens = total_tokens + v_total,
      subagent_tokens = subagent_tokens + case when v_caller like 'subagent:%' then v_total else 0 end,
      middleware_tokens = middleware_tokens + case when v_caller like 'subagent:%' then 0 else v_total end
    where run_id = v_run;
  return v_result;
end $$;

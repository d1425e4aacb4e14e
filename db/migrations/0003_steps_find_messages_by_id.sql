-- Steps find a message by its id without reading its thread, and their commits say what the next step needs to know.

-- A message has one open version; also how a step finds a message by its id.
create unique index thread_messages_current on thread_messages (thread_id, message_id) where until is null;

-- Makes the thread read as it did at watermark p_watermark, in a new commit p_seq.
create or replace function restore_thread(p_thread_id text, p_watermark bigint, p_seq bigint)
returns void language plpgsql as $$
begin
  -- First what came later is closed: a message has one open version.
  update thread_messages set until = p_seq
    where thread_id = p_thread_id and until is null and since > p_watermark and since < p_seq;
  insert into thread_messages (thread_id, message_id, position, since, run_id, body)
    select thread_id, message_id, position, p_seq, run_id, body from thread_messages
    where thread_id = p_thread_id and since <= p_watermark and until > p_watermark;
  insert into thread_channels (thread_id, channel, since, value)
    select thread_id, channel, p_seq, value from thread_channels
    where thread_id = p_thread_id and since <= p_watermark and until > p_watermark;
  update thread_channels set until = p_seq
    where thread_id = p_thread_id and until is null and since > p_watermark and since < p_seq;
end $$;

-- One step of a thread. Keys of p, all but thread_id optional:
--   run_id            whose step; its stream is the fence
--   restore           watermark to return to first
--   messages          [{id, body, run_id?, position?}]; an id that is there is replaced in place
--   remove_messages   [id]
--   channels          {channel: value | null}
--   artifacts         [path], united with what is there
--   journal           [{event_type, category, content?, message_id?, metadata}]
--   tool_calls        [{tool_call_id, turn, place, name, message_id}] planned by this reply
--   tool_result       {turn, tool_call_id, presented?, message: body, journal: {...}}: completes a ledger row
--   turn              {turn, message_id, outcome}
--   usage             {input, output, total}
--   checkpoint        {id, step, source, node, next, interrupts, metadata, error}
--   events            [{kind, payload, message_id?}]; kinds state and checkpoint get the watermark filled in
--   phase             {checkpoint, events}: applied by the tool result that completes its turn
--   touch             false leaves the thread's updated_at alone
-- Returns {seq, phase_complete, position, cancel_action}: the position of the first message, where there is one, and the
-- wish to cancel that the run's row held.
create or replace function commit_step(p jsonb) returns jsonb language plpgsql as $$
declare
  v_thread text := p ->> 'thread_id';
  v_run uuid := (p ->> 'run_id')::uuid;
  v_seq bigint;
  -- Number that the positions of this commit begin with.
  v_first bigint;
  v_journal bigint;
  v_parent uuid;
  v_item jsonb;
  -- Ids in variables: the planner does not look for an expression in an index.
  v_id text;
  v_index int := 0;
  v_position bigint;
  v_first_position bigint;
  v_cancel text;
  v_call tool_calls%rowtype;
  v_checkpoint jsonb := p -> 'checkpoint';
  v_events jsonb := coalesce(p -> 'events', '[]');
  v_journal_rows jsonb := coalesce(p -> 'journal', '[]');
  v_messages jsonb := coalesce(p -> 'messages', '[]');
  v_complete boolean := false;
  v_artifacts jsonb;
begin
  -- A commit of very many messages takes the room of several, so that the next one still comes behind it.
  update threads
    set log_seq = log_seq + 1 + jsonb_array_length(v_messages) / 10000,
        journal_seq = journal_seq + jsonb_array_length(v_journal_rows) + (p ? 'tool_result')::int,
        updated_at = case when (p ->> 'touch') = 'false' then updated_at else now() end
    where thread_id = v_thread
    returning log_seq, journal_seq - jsonb_array_length(v_journal_rows) - (p ? 'tool_result')::int, head_checkpoint
    into v_seq, v_journal, v_parent;
  if v_seq is null then
    raise exception 'thread % is gone', v_thread using errcode = 'DF002';
  end if;
  v_first := v_seq - jsonb_array_length(v_messages) / 10000;

  if v_run is not null then
    perform 1 from run_streams where run_id = v_run and not closed for update;
    if not found then
      raise exception 'run % is closed', v_run using errcode = 'DF001';
    end if;
  end if;

  if p ? 'turn' then
    insert into model_turns (run_id, turn, message_id, outcome)
      values (v_run, (p #>> '{turn,turn}')::int, p #>> '{turn,message_id}', p #> '{turn,outcome}')
      on conflict do nothing;
    if not found then
      raise exception 'turn % of run % is committed', p #>> '{turn,turn}', v_run using errcode = 'DF003';
    end if;
  end if;

  if p ? 'tool_result' then
    update tool_calls set state = 'done', ended_at = now(), presented = p #> '{tool_result,presented}'
      where run_id = v_run and turn = (p #>> '{tool_result,turn}')::int
        and tool_call_id = p #>> '{tool_result,tool_call_id}' and state <> 'done'
      returning * into v_call;
    if not found then
      raise exception 'tool call % is done', p #>> '{tool_result,tool_call_id}' using errcode = 'DF003';
    end if;
    v_id := v_call.message_id;
    select position + 1 + v_call.place into v_position from thread_messages
      where thread_id = v_thread and message_id = v_id and until is null;
    v_messages := v_messages || jsonb_build_array(jsonb_build_object(
      'id', p #>> '{tool_result,message,id}', 'body', p #> '{tool_result,message}', 'position', v_position));
    v_journal_rows := v_journal_rows || jsonb_build_array(p #> '{tool_result,journal}');
    v_complete := not exists (
      select 1 from tool_calls where run_id = v_run and turn = v_call.turn and state <> 'done');
    if v_complete and p ? 'phase' then
      v_checkpoint := p #> '{phase,checkpoint}';
      v_events := v_events || coalesce(p #> '{phase,events}', '[]');
    end if;
  end if;

  if p ? 'restore' then
    perform restore_thread(v_thread, (p ->> 'restore')::bigint, v_seq);
  end if;

  for v_id in select value from jsonb_array_elements_text(coalesce(p -> 'remove_messages', '[]')) loop
    update thread_messages set until = v_seq
      where thread_id = v_thread and message_id = v_id and until is null;
  end loop;

  for v_item in select value from jsonb_array_elements(v_messages) loop
    v_id := v_item ->> 'id';
    update thread_messages set until = v_seq
      where thread_id = v_thread and message_id = v_id and until is null and since < v_seq
      returning position into v_position;
    if not found then
      v_position := coalesce((v_item ->> 'position')::bigint, v_first * 10000 + v_index);
    end if;
    insert into thread_messages (thread_id, message_id, position, since, run_id, body)
      values (v_thread, v_id, v_position, v_seq, v_run, (v_item -> 'body')::json)
      on conflict (thread_id, message_id, since)
        do update set body = excluded.body, position = excluded.position, until = null;
    v_first_position := coalesce(v_first_position, v_position);
    v_index := v_index + 1;
  end loop;

  for v_item in select jsonb_build_object('k', key, 'v', value) from jsonb_each(coalesce(p -> 'channels', '{}')) loop
    perform set_thread_channel(v_thread, v_item ->> 'k', v_item -> 'v', v_seq);
  end loop;

  if jsonb_array_length(coalesce(p -> 'artifacts', '[]')) > 0 then
    select value into v_artifacts from thread_channels
      where thread_id = v_thread and channel = 'artifacts' and until is null;
    select coalesce(v_artifacts, '[]') || coalesce(jsonb_agg(a.value order by a.ordinality), '[]') into v_artifacts
      from jsonb_array_elements(p -> 'artifacts') with ordinality a
      where not coalesce(v_artifacts, '[]') @> jsonb_build_array(a.value);
    perform set_thread_channel(v_thread, 'artifacts', v_artifacts, v_seq);
  end if;

  insert into tool_calls (run_id, tool_call_id, turn, place, name, message_id)
    select v_run, c.tool_call_id, c.turn, c.place, c.name, c.message_id
    from jsonb_to_recordset(coalesce(p -> 'tool_calls', '[]'))
      as c(tool_call_id text, turn int, place int, name text, message_id text)
    on conflict do nothing;

  insert into run_journal
      (thread_id, seq, run_id, event_type, category, content, message_id, message_since, metadata)
    select v_thread, v_journal + j.ordinality, v_run, j.value ->> 'event_type', j.value ->> 'category',
           j.value -> 'content', j.value ->> 'message_id',
           case when j.value ? 'message_id' then v_seq end, coalesce(j.value -> 'metadata', '{}')
    from jsonb_array_elements(v_journal_rows) with ordinality j;

  if v_checkpoint is not null then
    insert into checkpoints
        (thread_id, watermark, checkpoint_id, parent_id, run_id, step, source, node, next, interrupts, error, metadata)
      values (v_thread, v_seq, (v_checkpoint ->> 'id')::uuid, coalesce((v_checkpoint ->> 'parent_id')::uuid, v_parent),
              v_run, (v_checkpoint ->> 'step')::int, v_checkpoint ->> 'source', v_checkpoint ->> 'node',
              array(select jsonb_array_elements_text(coalesce(v_checkpoint -> 'next', '[]'))),
              coalesce(v_checkpoint -> 'interrupts', '[]'), v_checkpoint ->> 'error',
              coalesce(v_checkpoint -> 'metadata', '{}'));
    update threads set head_checkpoint = (v_checkpoint ->> 'id')::uuid where thread_id = v_thread;
  end if;

  if v_run is not null then
    update runs set
        updated_at = now(),
        message_count = message_count + jsonb_array_length(v_messages),
        llm_call_count = llm_call_count + coalesce((p #>> '{usage,calls}')::int, 0),
        total_input_tokens = total_input_tokens + coalesce((p #>> '{usage,input}')::bigint, 0),
        total_output_tokens = total_output_tokens + coalesce((p #>> '{usage,output}')::bigint, 0),
        total_tokens = total_tokens + coalesce((p #>> '{usage,total}')::bigint, 0),
        lead_agent_tokens = lead_agent_tokens + coalesce((p #>> '{usage,total}')::bigint, 0)
      where run_id = v_run
      returning cancel_action into v_cancel;
    if jsonb_array_length(v_events) > 0 then
      select jsonb_agg(
          case when e.value ->> 'kind' in ('state', 'checkpoint')
                 or (e.value ->> 'kind' = 'debug' and e.value #>> '{payload,type}' = 'checkpoint')
               then jsonb_set(e.value, '{payload,watermark}', to_jsonb(v_seq)) else e.value end
          order by e.ordinality)
        into v_events from jsonb_array_elements(v_events) with ordinality e;
      perform append_run_events(v_run, v_events, v_seq);
    end if;
  end if;

  return jsonb_build_object('seq', v_seq, 'phase_complete', v_complete, 'position', v_first_position,
    'cancel_action', v_cancel);
end $$;

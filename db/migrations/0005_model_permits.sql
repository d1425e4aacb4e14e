-- When a model may be asked, over all workers: one pace for a group of models, a limit on calls under way, and a circuit
-- that opens after failures. Only the database's clock is used. Who waits or calls holds a lease and renews it, so that
-- the place of a worker that died is free again when its lease is over.

-- One row a pace.
create table model_paces (
  key text primary key,
  -- The settings in force: two different ones cannot hold at once.
  policy jsonb not null,
  next_at timestamptz not null
);

create table model_waiters (
  key text not null references model_paces on delete cascade,
  ticket bigint generated always as identity,
  lease_until timestamptz not null,
  primary key (key, ticket)
);

-- A turn for one call. A first question has no ticket; who gets one asks again with it.
-- state: admitted, waiting, full (the queue), changed (another policy is in force), lost (the lease was over).
-- wait_ms: how long until the turn of this ticket, if nobody before it goes away.
create function admit_model_call(
  p_key text, p_policy jsonb, p_interval_ms double precision, p_max_queue int, p_ticket bigint, p_lease_ms int
) returns table (state text, ticket bigint, wait_ms double precision) language plpgsql as $$
declare
  pace model_paces%rowtype;
  moment timestamptz;
  ahead int;
  own bigint := p_ticket;
begin
  insert into model_paces (key, policy, next_at) values (p_key, p_policy, clock_timestamp()) on conflict do nothing;
  select * into pace from model_paces where key = p_key for update;
  moment := clock_timestamp();
  delete from model_waiters w where w.key = p_key and w.lease_until < moment;
  if own is not null and not exists (select 1 from model_waiters w where w.key = p_key and w.ticket = own) then
    return query select 'lost'::text, null::bigint, 0::double precision;
    return;
  end if;
  select count(*) into ahead from model_waiters w where w.key = p_key and (own is null or w.ticket < own);
  if pace.policy <> p_policy then
    -- Nobody waits and the last turn is over: the old settings have nobody left.
    if ahead > 0 or own is not null or pace.next_at > moment then
      return query select 'changed'::text, null::bigint, 0::double precision;
      return;
    end if;
    update model_paces set policy = p_policy where key = p_key;
  end if;
  if ahead = 0 and pace.next_at <= moment then
    update model_paces set next_at = moment + p_interval_ms * interval '1 millisecond' where key = p_key;
    delete from model_waiters w where w.key = p_key and w.ticket = own;
    return query select 'admitted'::text, null::bigint, 0::double precision;
    return;
  end if;
  if own is null then
    if ahead >= p_max_queue then
      return query select 'full'::text, null::bigint, 0::double precision;
      return;
    end if;
    insert into model_waiters (key, lease_until) values (p_key, moment + p_lease_ms * interval '1 millisecond')
      returning model_waiters.ticket into own;
  else
    update model_waiters w set lease_until = moment + p_lease_ms * interval '1 millisecond'
      where w.key = p_key and w.ticket = own;
  end if;
  return query select 'waiting'::text, own,
    greatest(0, extract(epoch from pace.next_at - moment) * 1000)::double precision + ahead * p_interval_ms;
end $$;

-- Calls under way and calls that wait for one of them to end, first come first served.
create table model_slots (
  ticket bigint generated always as identity primary key,
  held boolean not null,
  lease_until timestamptz not null
);

-- A place among the calls under way: its ticket and whether it is held already. Null where the lease was over.
create function take_model_slot(p_limit int, p_ticket bigint, p_lease_ms int)
returns table (ticket bigint, held boolean) language plpgsql as $$
declare
  moment timestamptz;
  own bigint := p_ticket;
  taken int;
  ahead int;
begin
  perform pg_advisory_xact_lock(hashtext('model_slots'), hashtext(current_schema()));
  moment := clock_timestamp();
  delete from model_slots s where s.lease_until < moment;
  if own is null then
    insert into model_slots (held, lease_until) values (false, moment + p_lease_ms * interval '1 millisecond')
      returning model_slots.ticket into own;
  end if;
  select count(*) filter (where s.held), count(*) filter (where not s.held and s.ticket < own) into taken, ahead
    from model_slots s;
  return query update model_slots s
    set held = s.held or (ahead = 0 and taken < p_limit), lease_until = moment + p_lease_ms * interval '1 millisecond'
    where s.ticket = own returning s.ticket, s.held;
end $$;

-- Failures in a row of a model, and until when it is left alone.
create table model_circuits (
  model text primary key,
  failures int not null default 0,
  open_until timestamptz,
  -- One call tries it out once the time is over; until then it is that call's turn alone.
  probe_until timestamptz
);

-- Threads, their append-only message log, and the runs that write to it.

create table threads (
  thread_id text primary key,
  owner text not null,
  -- idle | busy | interrupted | error
  status text not null default 'idle',
  metadata jsonb not null default '{}',
  -- Set while an operation that is no run has the thread for itself (deletion, a state or artifact write).
  hold text,
  held_at timestamptz,
  -- Sequence of the newest commit to the message log. A checkpoint is a value of this counter.
  log_seq bigint not null default 0,
  journal_seq bigint not null default 0,
  head_checkpoint uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index threads_by_owner on threads (owner, updated_at desc, thread_id desc);
create index threads_by_metadata on threads using gin (metadata jsonb_path_ops);

-- One row is one version of a message: visible from commit `since` up to, not including, commit `until`.
create table thread_messages (
  thread_id text not null references threads on delete cascade,
  message_id text not null,
  -- Order in the conversation. Ten thousand apart for each commit, so that results stand behind their call.
  position bigint not null,
  since bigint not null,
  until bigint,
  run_id uuid,
  body json not null,
  primary key (thread_id, message_id, since)
);
create index thread_messages_open on thread_messages (thread_id, position) where until is null;
create index thread_messages_since on thread_messages (thread_id, since);
create index thread_messages_until on thread_messages (thread_id, until) where until is not null;

-- State other than messages (title, artifacts, todos, ...), versioned the same way.
create table thread_channels (
  thread_id text not null references threads on delete cascade,
  channel text not null,
  since bigint not null,
  until bigint,
  value jsonb not null,
  primary key (thread_id, channel, since)
);

create table checkpoints (
  thread_id text not null references threads on delete cascade,
  watermark bigint not null,
  checkpoint_id uuid not null,
  parent_id uuid,
  run_id uuid,
  step int not null,
  -- input | loop | update | fork
  source text not null,
  node text,
  -- Nodes that would run next; empty when nothing waits.
  next text[] not null default '{}',
  interrupts jsonb not null default '[]',
  error text,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now(),
  primary key (thread_id, watermark)
);
create unique index checkpoints_by_id on checkpoints (thread_id, checkpoint_id);

create table runs (
  run_id uuid primary key,
  thread_id text not null references threads on delete cascade,
  owner text not null,
  assistant_id text not null,
  -- pending | running | success | error | timeout | interrupted
  status text not null default 'pending',
  -- active: it has the thread; queued: it waits for the thread; ended.
  admission text not null,
  -- Place in the thread's queue; also the order of creation.
  ordinal bigint generated always as identity,
  metadata jsonb not null default '{}',
  -- The request as the client may read it again, without secrets.
  kwargs jsonb not null,
  -- What the run needs of its request: context, stream modes, breakpoints, checkpoint, webhook.
  options jsonb not null,
  multitask_strategy text not null,
  on_disconnect text not null,
  idempotency_key text,
  request_hash text,
  available_at timestamptz not null default now(),
  -- The first cancel action wins.
  cancel_action text,
  workflow_started_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  -- Log sequence before this run's first commit: what a rollback returns to.
  base_watermark bigint,
  end_watermark bigint,
  stop_reason text,
  error jsonb,
  model_name text,
  -- Set when a later run replaced this one's turn (regenerate, edit) or when it was rolled back.
  superseded boolean not null default false,
  total_input_tokens bigint not null default 0,
  total_output_tokens bigint not null default 0,
  total_tokens bigint not null default 0,
  llm_call_count int not null default 0,
  lead_agent_tokens bigint not null default 0,
  subagent_tokens bigint not null default 0,
  middleware_tokens bigint not null default 0,
  message_count int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index runs_by_thread on runs (thread_id, ordinal desc);
create unique index runs_one_active_per_thread on runs (thread_id) where admission = 'active';
create index runs_queued on runs (thread_id, ordinal) where admission = 'queued';
create index runs_open on runs (created_at) where admission <> 'ended';
create unique index runs_idempotency on runs (owner, thread_id, idempotency_key) where idempotency_key is not null;

-- The writing end of a run's event stream. Its row is the fence: once closed, nobody can add to the run.
create table run_streams (
  run_id uuid primary key references runs on delete cascade,
  next_number int not null default 0,
  closed boolean not null default false
);

create table run_events (
  run_id uuid not null references runs on delete cascade,
  number int not null,
  at timestamptz not null default clock_timestamp(),
  kind text not null,
  payload json not null,
  message_id text,
  message_since bigint,
  primary key (run_id, number)
);

-- The audit record of a run, in order per thread. Message events refer to the log instead of copying the message.
create table run_journal (
  thread_id text not null references threads on delete cascade,
  seq bigint not null,
  run_id uuid not null,
  event_type text not null,
  category text not null,
  content jsonb,
  message_id text,
  message_since bigint,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now(),
  primary key (thread_id, seq)
);
create index run_journal_by_run on run_journal (run_id, seq);

-- One row a committed model reply: a retry of the call finds it and does not ask the model again.
create table model_turns (
  run_id uuid not null references runs on delete cascade,
  turn int not null,
  message_id text not null,
  outcome jsonb not null,
  primary key (run_id, turn)
);

-- The tool ledger. `planned` with the reply that asks for it, `started` before an effect, `done` with its result.
create table tool_calls (
  run_id uuid not null references runs on delete cascade,
  tool_call_id text not null,
  turn int not null,
  place int not null,
  name text not null,
  message_id text not null,
  state text not null default 'planned',
  attempts int not null default 0,
  -- Content hashes before and after, for tools that change one file.
  write_plan jsonb,
  -- Paths that the call presented to the user.
  presented jsonb,
  started_at timestamptz,
  ended_at timestamptz,
  -- Some providers use the same ids again in every reply.
  primary key (run_id, turn, tool_call_id)
);
create index tool_calls_by_turn on tool_calls (run_id, turn) where state <> 'done';

-- Request-scoped secrets, sealed, for the life of a run. Unlogged: they never reach the write-ahead log or a replica.
create unlogged table run_secrets (
  run_id uuid primary key,
  sealed bytea not null
);

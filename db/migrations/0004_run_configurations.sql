-- The configurations that runs began with, each once, without secrets.

create table run_configurations (
  -- SHA-256 of the body.
  hash text primary key,
  body text not null,
  -- When a run last may have begun with it; not exact to the minute.
  used_at timestamptz not null default now()
);

-- Null for runs that began before there was such a table. Kept when the configuration of an ended run is gone.
alter table runs add column config_hash text;
create index runs_active_by_configuration on runs (config_hash) where admission = 'active';

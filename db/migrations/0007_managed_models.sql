-- Models that an administrator registers over the API. What they are, their keys included, is in the sealed text.

create table managed_models (
  name text primary key,
  -- Changes with every save; whoever saves names the one that the change was made from.
  revision text not null,
  sealed text not null,
  position bigint generated always as identity,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- What was taken over from files, so that it is done once.
create table managed_model_imports (
  source text primary key,
  imported_at timestamptz not null default now()
);

create function tell_managed_models_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('managed_models', '');
  return null;
end
$$;

create trigger managed_models_changed after insert or update or delete on managed_models
  for each statement execute function tell_managed_models_changed();

-- Upstreams and models that an organization added. Those of the configuration are not stored.
create table stored_upstream (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  name TEXT not null,
  settings TEXT not null, -- the fields of an upstream in the configuration, with masks in place of its secrets
  paused INTEGER not null check (paused in (0, 1)),
  revision INTEGER not null, -- counts up with every change
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create unique index stored_upstream_name on stored_upstream (organization_id, name);

create table stored_upstream_secret (
  upstream_id TEXT not null references stored_upstream (id),
  field TEXT not null, -- its path in the settings, such as headers.x-api-key
  sealed BLOB not null,
  primary key (upstream_id, field)
) STRICT;

create table stored_model (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  name TEXT not null,
  settings TEXT not null, -- the fields of a model in the configuration
  paused INTEGER not null check (paused in (0, 1)),
  revision INTEGER not null,
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create unique index stored_model_name on stored_model (organization_id, name);

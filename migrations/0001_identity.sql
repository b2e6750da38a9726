-- Who may use the service. Times are Unix milliseconds; money is in whole micro-dollars; lists are JSON.

create table organization (
  id TEXT primary key,
  name TEXT not null,
  plan TEXT not null default 'free',
  lifetime_paid_micro_usd INTEGER not null default 0,
  metered INTEGER not null default 1 check (metered in (0, 1)),
  version INTEGER not null default 1, -- counts up with every change that a node's snapshot must follow
  changed_at INTEGER not null,
  created_at INTEGER not null
) STRICT;

create index organization_changed_at on organization (changed_at);

create table project (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  name TEXT not null,
  created_at INTEGER not null,
  archived_at INTEGER
) STRICT;

create index project_organization on project (organization_id, id);

create table api_key (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  project_id TEXT not null references project (id),
  name TEXT not null,
  digest TEXT not null unique, -- of the secret, which is never stored
  redacted_value TEXT not null,
  permissions TEXT not null,
  models TEXT, -- null: every model
  created_at INTEGER not null,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT;

create index api_key_organization on api_key (organization_id, id);
create index api_key_project on api_key (project_id, id);

create table admin_key (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  name TEXT not null,
  digest TEXT not null unique,
  redacted_value TEXT not null,
  permissions TEXT not null,
  created_at INTEGER not null,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT;

create index admin_key_organization on admin_key (organization_id, id);

-- The anonymous free request: one row for each client (a keyed hash of its address) that has used it.
create table free_request (
  client TEXT primary key,
  at INTEGER not null
) STRICT;

create index free_request_at on free_request (at);

-- How many of them a UTC day has seen, over all clients.
create table free_day (
  day INTEGER primary key,
  requests INTEGER not null
) STRICT;

-- At most one row: which organization was made first. Nodes that start together on an empty database set it up once.
create table installation (
  singleton INTEGER primary key check (singleton = 1),
  organization_id TEXT not null
) STRICT;

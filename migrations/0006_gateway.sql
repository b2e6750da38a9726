-- What organizations ask of the gateway.

-- Every configuration that was saved. Written once, never changed.
create table gateway_config_version (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  version INTEGER not null check (version >= 1),
  config TEXT not null,
  created_at INTEGER not null,
  unique (organization_id, version)
) STRICT;

-- Which of them is in force: one row for an organization that has saved any.
create table gateway_config (
  organization_id TEXT primary key references organization (id),
  version INTEGER not null check (version >= 1),
  is_rolled_back INTEGER not null check (is_rolled_back in (0, 1)), -- out of force after a spike, until the next save
  created_at INTEGER not null
) STRICT;

-- The sliding windows of limits that an embedded server counts in memory: one row for each key, project and organization,
-- so that they outlive the process.
create table limit_use (
  organization_id TEXT not null, -- reads of the balance count under a name of their own
  scope TEXT not null check (scope in ('key', 'project', 'organization')),
  id TEXT not null,
  minute TEXT not null, -- JSON: slots of a second as [number, requests, tokens]
  day TEXT not null, -- JSON: the same, slots of an hour
  saved_at INTEGER not null,
  primary key (organization_id, scope, id)
) STRICT;

create index limit_use_saved on limit_use (saved_at);

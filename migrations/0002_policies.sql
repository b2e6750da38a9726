-- Policies, what may be asked twice, and who changed what.

create table policy (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  name TEXT not null,
  description TEXT not null,
  state TEXT not null check (state in ('draft', 'monitoring', 'enforcing', 'paused')),
  revision INTEGER not null check (revision between 1 and 2147483647),
  current_version INTEGER, -- null until something is published
  has_unpublished_changes INTEGER not null check (has_unpublished_changes in (0, 1)), -- so that lists need not read rules
  rule TEXT not null, -- from here to base_version: the draft
  direction TEXT not null check (direction in ('request', 'response', 'both')),
  mode TEXT not null check (mode in ('monitoring', 'enforcing')),
  scope TEXT not null check (scope in ('organization', 'projects', 'unattached')),
  project_ids TEXT not null,
  match_threshold_basis_points INTEGER check (match_threshold_basis_points between 1 and 9999),
  base_version INTEGER,
  created_at INTEGER not null,
  updated_at INTEGER not null,
  deleted_at INTEGER -- the row stays: a cursor that names it still shows the way
) STRICT;

create index policy_organization on policy (organization_id, id) where deleted_at is null;

-- Written once, never changed.
create table policy_version (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  policy_id TEXT not null references policy (id),
  version INTEGER not null check (version >= 1),
  rule TEXT not null,
  direction TEXT not null,
  mode TEXT not null,
  scope TEXT not null,
  project_ids TEXT not null,
  match_threshold_basis_points INTEGER,
  published_at INTEGER not null,
  unique (policy_id, version)
) STRICT;

-- Answers that are given again when the same Idempotency-Key comes back.
create table idempotency (
  organization_id TEXT not null references organization (id),
  credential_id TEXT not null,
  key TEXT not null,
  fingerprint TEXT not null, -- of the request: the same key with another one is refused
  reply BLOB not null, -- sealed, since it may hold a new key's secret
  expires_at INTEGER not null,
  primary key (organization_id, credential_id, key)
) STRICT;

create index idempotency_expires_at on idempotency (expires_at);

-- Changes made by administrators. Only ever added to.
create table audit_log (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  at INTEGER not null,
  kind TEXT not null,
  actor_kind TEXT not null,
  credential_id TEXT, -- null for somebody at the machine itself
  request_id TEXT,
  resource_id TEXT not null,
  policy_id TEXT,
  project_id TEXT,
  old_revision INTEGER,
  new_revision INTEGER,
  details TEXT not null
) STRICT;

create index audit_log_organization on audit_log (organization_id, id);
create index audit_log_kind on audit_log (organization_id, kind, id);
create index audit_log_policy on audit_log (organization_id, policy_id, id) where policy_id is not null;
create index audit_log_project on audit_log (organization_id, project_id, id) where project_id is not null;
create index audit_log_request on audit_log (organization_id, request_id, id) where request_id is not null;

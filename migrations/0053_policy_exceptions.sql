-- Requests for which a policy is evaluated and not enforced, until a date.
create table policy_exception (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  policy_id TEXT not null references policy (id),
  subject_kind TEXT not null check (subject_kind in ('project', 'user', 'key', 'text')),
  subjects TEXT not null, -- JSON: the id, or the digests of texts
  reason TEXT not null,
  owner TEXT not null,
  event_id TEXT, -- the audit event that the text is of
  request_id TEXT, -- and its request, by which texts are erased
  created_by TEXT not null,
  created_at INTEGER not null,
  expires_at INTEGER not null,
  ended_at INTEGER, -- when somebody ended it early
  ended_by TEXT,
  expiry_recorded INTEGER not null default 0 -- 1: the audit log has its expiry
) STRICT;

create index policy_exception_policy on policy_exception (organization_id, policy_id, id);
create index policy_exception_expiry on policy_exception (expires_at) where ended_at is null and expiry_recorded = 0;
create index policy_exception_live on policy_exception (organization_id, expires_at);
create index policy_exception_request on policy_exception (request_id) where request_id is not null;

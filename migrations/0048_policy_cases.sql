-- Texts with what the rule of a policy is expected to find in them.
create table policy_case (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  policy_id TEXT not null references policy (id),
  says TEXT not null,
  sealed BLOB not null, -- JSON of what the rule is given, encrypted
  expected TEXT not null, -- JSON
  weight TEXT not null, -- must or should
  origin TEXT not null, -- written, appeal, replay or playground
  event_id TEXT, -- the audit event that the text is of
  request_id TEXT, -- and its request, by which texts are erased
  tags TEXT not null, -- JSON
  labelled_by TEXT not null,
  labelled_at INTEGER not null,
  revision INTEGER not null, -- counts up with every change
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create index policy_case_policy on policy_case (organization_id, policy_id, id);
create index policy_case_request on policy_case (request_id) where request_id is not null;

-- What stands between a draft and its publication: the settings of an organization, and what a policy adds to them.
create table publish_gate (
  organization_id TEXT not null references organization (id),
  policy_id TEXT not null, -- empty for the organization
  settings TEXT not null, -- JSON
  revision INTEGER not null, -- counts up with every change
  updated_at INTEGER not null,
  primary key (organization_id, policy_id)
) STRICT;

-- Attempts of drafts at the gate.
create table gate_run (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  policy_id TEXT not null,
  revision INTEGER not null, -- of the policy
  digest TEXT not null, -- of the draft and its cases
  cases TEXT not null, -- JSON
  backtest_id TEXT,
  replay_problem TEXT, -- why no requests are replayed
  author TEXT, -- who last changed the draft
  created_by TEXT not null,
  created_at INTEGER not null
) STRICT;

create index gate_run_policy on gate_run (organization_id, policy_id, id);
create index gate_run_created on gate_run (created_at);

create table gate_approval (
  organization_id TEXT not null references organization (id),
  run_id TEXT not null references gate_run (id),
  approved_by TEXT not null,
  approved_at INTEGER not null,
  primary key (run_id, approved_by)
) STRICT;

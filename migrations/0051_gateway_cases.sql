-- Backtests and cases can belong to the gateway configuration of the organization. Then they have no policy.
-- A node of the version before that claims such a backtest ends it as failed. It can be started again after the upgrade.
-- engine: postgres
alter table backtest alter column policy_id drop not null;
alter table policy_case alter column policy_id drop not null;

-- engine: sqlite
-- SQLite cannot make a column nullable, so the tables are copied.
create table backtest_copy (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  policy_id TEXT references policy (id), -- null: the gateway configuration
  status TEXT not null check (status in ('running', 'completed', 'failed')),
  request TEXT not null, -- JSON: the draft or the configuration as it was, and which events
  cursor INTEGER not null, -- events from this sequence on were replayed, newest first
  first_sequence INTEGER not null, -- the oldest one to replay
  done INTEGER not null,
  total INTEGER not null,
  tally TEXT not null, -- JSON
  error TEXT,
  owner TEXT, -- the node that works on it, until its lease ends
  lease_until INTEGER not null,
  created_at INTEGER not null,
  updated_at INTEGER not null,
  cancelled_at INTEGER
) STRICT;

insert into backtest_copy (id, organization_id, policy_id, status, request, cursor, first_sequence, done, total, tally, error, owner, lease_until, created_at, updated_at, cancelled_at)
  select id, organization_id, policy_id, status, request, cursor, first_sequence, done, total, tally, error, owner, lease_until, created_at, updated_at, cancelled_at from backtest;

drop table backtest;
alter table backtest_copy rename to backtest;

create index backtest_running on backtest (lease_until, id) where status = 'running';
create index backtest_organization on backtest (organization_id, policy_id, id);
create index backtest_updated on backtest (updated_at) where status <> 'running';

create table policy_case_copy (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  policy_id TEXT references policy (id), -- null: the gateway configuration
  says TEXT not null,
  sealed BLOB not null, -- JSON of what is evaluated, encrypted
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

insert into policy_case_copy (id, organization_id, policy_id, says, sealed, expected, weight, origin, event_id, request_id, tags, labelled_by, labelled_at, revision, created_at, updated_at)
  select id, organization_id, policy_id, says, sealed, expected, weight, origin, event_id, request_id, tags, labelled_by, labelled_at, revision, created_at, updated_at from policy_case;

drop table policy_case;
alter table policy_case_copy rename to policy_case;

create index policy_case_policy on policy_case (organization_id, policy_id, id);
create index policy_case_request on policy_case (request_id) where request_id is not null;
-- engine: both

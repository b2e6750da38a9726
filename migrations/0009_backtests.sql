-- Drafts tried on what was said before. A row is the order, how far it has come, and what was found so far.
create table backtest (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  policy_id TEXT not null references policy (id),
  status TEXT not null check (status in ('running', 'completed', 'failed')),
  request TEXT not null, -- JSON: the draft as it was, and which events
  cursor INTEGER not null, -- events from this sequence on were looked at, newest first
  first_sequence INTEGER not null, -- the oldest one to look at
  done INTEGER not null,
  total INTEGER not null,
  tally TEXT not null, -- JSON
  error TEXT,
  owner TEXT, -- the one node that works on it, until its lease ends
  lease_until INTEGER not null,
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create index backtest_running on backtest (lease_until, id) where status = 'running';
create index backtest_organization on backtest (organization_id, policy_id, id);
create index backtest_updated on backtest (updated_at) where status <> 'running';

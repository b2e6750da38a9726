-- Amounts that requests may spend in each period.
create table budget (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  name TEXT not null,
  settings TEXT not null, -- JSON: match, amount, period and so on
  state TEXT not null, -- active or paused
  revision INTEGER not null,
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create unique index budget_organization on budget (organization_id, name);
create index budget_state on budget (state, organization_id, id);

-- Shares of budgets that were reported. Only those of the last period of a budget are kept.
create table budget_threshold (
  organization_id TEXT not null references organization (id),
  budget_id TEXT not null references budget (id),
  member TEXT not null, -- empty for a budget that all requests share
  period_start INTEGER not null,
  percent INTEGER not null,
  reached_at INTEGER not null,
  primary key (organization_id, budget_id, member, period_start, percent)
) STRICT;

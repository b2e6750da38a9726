-- Credits, in whole micro-credits, and what every request used.

create table credit_account (
  organization_id TEXT primary key references organization (id),
  granted INTEGER not null,
  available INTEGER not null, -- in no slice and not spent; below zero it is a debt
  held INTEGER not null, -- in slices, less what was spent of them
  spent INTEGER not null,
  check (granted = available + held + spent)
) STRICT;

insert into credit_account (organization_id, granted, available, held, spent) select id, 0, 0, 0, 0 from organization;

-- What the ledger has handed to a store of counters, which admits requests against it.
create table credit_slice (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  holder TEXT not null check (holder in ('shared', 'node')), -- counters of all nodes, or of one
  epoch TEXT not null, -- one life of those counters; no other may spend it
  amount INTEGER not null check (amount >= 0),
  settled INTEGER not null check (settled >= 0), -- over the amount it is a debt
  state TEXT not null check (state in ('open', 'closing', 'closed')),
  opened_at INTEGER not null,
  closing_at INTEGER
) STRICT;

create unique index credit_slice_open on credit_slice (organization_id, epoch) where state = 'open';
create index credit_slice_live on credit_slice (organization_id, id) where state <> 'closed';

-- Double entry: every row takes from one account what it gives to another. Only ever added to.
create table credit_entry (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  at INTEGER not null,
  kind TEXT not null check (kind in ('grant', 'payment', 'usage', 'slice')),
  from_account TEXT not null check (from_account in ('outside', 'available', 'held')),
  to_account TEXT not null check (to_account in ('available', 'held', 'spent')),
  micro INTEGER not null check (micro > 0),
  slice_id TEXT, -- where the account is held
  ref TEXT not null, -- of the payment, the request, the slice
  note TEXT not null
) STRICT;

create unique index credit_entry_once on credit_entry (organization_id, kind, ref) where kind <> 'slice';
create index credit_entry_organization on credit_entry (organization_id, id);
create index credit_entry_slice on credit_entry (slice_id) where slice_id is not null;

-- What became of a request, and its receipt. The first row for a request decides; there is no second.
create table charge (
  request_id TEXT primary key,
  id TEXT not null, -- of its entry
  organization_id TEXT not null references organization (id),
  project_id TEXT not null,
  key_id TEXT not null,
  model TEXT not null,
  at INTEGER not null,
  outcome TEXT not null check (outcome in ('answered', 'aborted', 'broken_off', 'orphaned')),
  slice_id TEXT, -- null: not metered
  micro INTEGER not null check (micro >= 0),
  input_tokens INTEGER not null,
  cache_read_tokens INTEGER not null,
  cache_write_tokens INTEGER not null,
  output_tokens INTEGER not null,
  source TEXT not null check (source in ('reported', 'estimated')),
  input_rate INTEGER not null, -- micro-credits per million tokens
  cache_read_rate INTEGER not null,
  cache_write_rate INTEGER not null,
  output_rate INTEGER not null,
  rate_version TEXT not null
) STRICT;

create index charge_organization on charge (organization_id, at);

-- Nodes that run. Each counts its beat up; a beat that stands still belongs to a dead one.
create table node (
  id TEXT primary key,
  beat INTEGER not null
) STRICT;

-- Limits set for one organization, project or key in place of its tier's. JSON: metric to number.
create table limit_override (
  organization_id TEXT not null references organization (id),
  scope TEXT not null check (scope in ('key', 'project', 'organization')),
  subject_id TEXT not null,
  limits TEXT not null,
  primary key (organization_id, scope, subject_id)
) STRICT;

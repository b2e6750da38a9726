-- The sums of an organization's entries up to the end of a month, whose charges and entries of usage were removed.
create table ledger_balance (
  organization_id TEXT not null references organization (id),
  month TEXT not null, -- UTC, such as 2026-03
  sealed BLOB not null, -- encrypted with the server secret, so that only the service can have written it
  primary key (organization_id, month)
) STRICT;

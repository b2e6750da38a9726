-- A correction takes granted credits back: from the account available to outside. SQLite cannot change a check, so the table is written again.
alter table credit_entry rename to credit_entry_before;

create table credit_entry (
  organization_id TEXT not null references organization (id),
  id TEXT not null,
  at INTEGER not null,
  kind TEXT not null check (kind in ('grant', 'payment', 'correction', 'usage', 'slice')),
  from_account TEXT not null check (from_account in ('outside', 'available', 'held')),
  to_account TEXT not null check (to_account in ('outside', 'available', 'held', 'spent')),
  micro INTEGER not null check (micro > 0),
  slice_id TEXT, -- where the account is held
  ref TEXT not null, -- of the payment, the request, the slice
  note TEXT not null,
  primary key (organization_id, id)
) STRICT;

insert into credit_entry (organization_id, id, at, kind, from_account, to_account, micro, slice_id, ref, note)
select organization_id, id, at, kind, from_account, to_account, micro, slice_id, ref, note from credit_entry_before;

drop table credit_entry_before;

create unique index credit_entry_once on credit_entry (organization_id, kind, ref) where kind in ('grant', 'payment', 'correction');

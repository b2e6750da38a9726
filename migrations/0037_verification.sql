-- Where an interrupted verification of the audit log continues. JSON; null: at the beginning.
alter table audit_verification add column resume_at TEXT;

-- A verification of the ledger reads the slices of one organization at a time.
create index credit_slice_organization on credit_slice (organization_id, id);

-- The sums of an organization's entries that a full verification of the ledger found consistent, with a keyed digest.
create table ledger_checkpoint (
  organization_id TEXT primary key references organization (id),
  verified_at INTEGER not null,
  body TEXT not null, -- JSON
  digest TEXT not null -- HMAC of the body, with a key of the server secret
) STRICT;

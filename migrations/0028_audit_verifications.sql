-- Verifications of the audit log that an administrator started. A row is the range, how far it has come, and what was found.
create table audit_verification (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  state TEXT not null check (state in ('running', 'completed', 'failed')),
  from_sequence INTEGER, -- null: from the first event that is kept
  to_sequence INTEGER, -- null: to the end
  checked INTEGER not null,
  total INTEGER not null,
  result TEXT, -- JSON; null until it is completed
  owner TEXT, -- the one node that works on it, until its lease ends
  lease_until INTEGER not null,
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

-- One at a time for each organization, however many nodes are asked.
create unique index audit_verification_running on audit_verification (organization_id) where state = 'running';
create index audit_verification_organization on audit_verification (organization_id, id);

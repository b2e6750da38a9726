-- Objects in the archive of the audit log. With an archive, events are removed from the log only when such an object has them.
-- The range is stored before the object is written, so that a run that was interrupted is repeated with the same range.
create table audit_archive (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  first_sequence INTEGER not null,
  last_sequence INTEGER not null,
  day TEXT not null, -- in UTC, such as 2026-11-17: when its last event was signed
  name TEXT not null,
  target TEXT not null check (target in ('folder', 's3')),
  bytes INTEGER, -- null until it is written
  sha256 TEXT, -- null until it is written
  written_at INTEGER -- null until it is written
) STRICT;

create unique index audit_archive_range on audit_archive (organization_id, first_sequence);

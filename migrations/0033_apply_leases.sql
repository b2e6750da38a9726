-- Which run of `gatehouse apply` changes an organization. One at a time; the lease of a run that was killed expires.
create table apply_lease (
  organization_id TEXT primary key references organization (id),
  holder TEXT not null,
  expires_at INTEGER not null
) STRICT;

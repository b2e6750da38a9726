-- Named states of a page of the console, kept by their owner or shared with the organization.
create table saved_view (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  owner_id TEXT not null, -- the administrator key or member
  name TEXT not null,
  page TEXT not null,
  query TEXT not null,
  is_shared INTEGER not null,
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create index saved_view_organization on saved_view (organization_id, id);

-- Answers of /v1/responses that later requests may build on, for as long as they are kept. JSON as text.
create table stored_response (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  project_id TEXT not null references project (id),
  previous_id TEXT, -- the response it went on from
  input TEXT not null, -- the items that were new in its request
  document TEXT not null,
  created_at INTEGER not null,
  expires_at INTEGER not null
) STRICT;

create index stored_response_project on stored_response (project_id, id);
create index stored_response_expires on stored_response (expires_at);

-- Their output items by id, for requests that only refer to one.
create table stored_item (
  project_id TEXT not null references project (id),
  id TEXT not null,
  response_id TEXT not null,
  item TEXT not null,
  expires_at INTEGER not null,
  primary key (project_id, id)
) STRICT;

create index stored_item_response on stored_item (response_id);
create index stored_item_expires on stored_item (expires_at);

-- Redacted texts of a random sample of requests, for replays alone. No request page and no export reads them.
create table replay_sample (
  organization_id TEXT not null references organization (id),
  sequence INTEGER not null, -- of the audit event
  event_id TEXT not null unique,
  request_id TEXT not null, -- by which texts are erased
  hour INTEGER not null, -- of the request, in hours since 1970
  position INTEGER not null, -- random: the requests with the lowest positions of an hour stay
  sealed BLOB not null, -- JSON of the texts, encrypted
  primary key (organization_id, sequence)
) STRICT;

create index replay_sample_position on replay_sample (organization_id, hour, position);
create index replay_sample_hour on replay_sample (hour);
create index replay_sample_request on replay_sample (organization_id, request_id);

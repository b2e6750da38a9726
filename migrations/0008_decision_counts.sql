-- How often each policy, and the gateway configuration, was asked and said no, by the minute and over all nodes.
create table decision_count (
  organization_id TEXT not null references organization (id),
  subject TEXT not null, -- a policy's id, or gateway
  minute INTEGER not null, -- Unix time
  version INTEGER not null,
  requests INTEGER not null,
  denials INTEGER not null,
  primary key (organization_id, subject, minute, version)
) STRICT;

create index decision_count_minute on decision_count (minute);

-- What was paused and is in force again is watched from then on.
alter table policy add column resumed_at INTEGER;

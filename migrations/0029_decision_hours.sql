-- Decisions of each policy, and of the gateway configuration, by the hour and over all nodes.
create table decision_hour (
  organization_id TEXT not null references organization (id),
  subject TEXT not null, -- a policy's id, or gateway
  hour INTEGER not null, -- since 1970
  version INTEGER not null,
  requests INTEGER not null, -- on which it was enforced
  denials INTEGER not null,
  recorded_requests INTEGER not null, -- on which it was evaluated and not enforced
  recorded_denials INTEGER not null,
  primary key (organization_id, subject, hour, version)
) STRICT;

create index decision_hour_hour on decision_hour (hour);

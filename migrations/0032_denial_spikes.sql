-- Whether a denial spike within a day of the publication pauses the policy.
alter table policy add column pause_on_spike INTEGER not null default 0;
alter table policy_version add column pause_on_spike INTEGER not null default 0;

-- Callers of each policy and of the gateway configuration in the last minutes, over all nodes. A caller is a key and a user.
create table decision_caller (
  organization_id TEXT not null references organization (id),
  subject TEXT not null, -- a policy's id, or gateway
  version INTEGER not null,
  key_id TEXT not null,
  user_digest TEXT not null, -- empty if the request names no user
  active_minute INTEGER not null, -- the last one; Unix time
  denied_minute INTEGER not null, -- the last one; 0 if none
  primary key (organization_id, subject, version, key_id, user_digest)
) STRICT;

create index decision_caller_active_minute on decision_caller (active_minute);

-- Spikes of denials that were reported. Further detections extend a spike, so that it is reported once.
create table denial_spike (
  organization_id TEXT not null references organization (id),
  subject TEXT not null,
  version INTEGER not null,
  first_minute INTEGER not null,
  last_minute INTEGER not null,
  primary key (organization_id, subject, version)
) STRICT;

create index denial_spike_last_minute on denial_spike (last_minute);

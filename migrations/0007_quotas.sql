-- What users and projects have used of their quotas: one row for each of them and each window.
create table quota_use (
  organization_id TEXT not null references organization (id),
  subject_kind TEXT not null check (subject_kind in ('user', 'project')),
  subject TEXT not null, -- of a user, a digest of the name: names may be long, and are nobody's business here
  period TEXT not null, -- minute, hour, day, week, month
  starts_at INTEGER not null,
  ends_at INTEGER not null,
  requests INTEGER not null,
  tokens INTEGER not null, -- estimated for requests under way, used by those that ended
  primary key (organization_id, subject_kind, subject, period, starts_at)
) STRICT;

create index quota_use_ends on quota_use (ends_at);

-- What requests under way may still use of token quotas: one row for each of them and each quota. The tokens are part of
-- quota_use.tokens. Settling a request, or the expiry of its reservation, takes the row out and corrects quota_use.
create table quota_reservation (
  id TEXT not null,
  organization_id TEXT not null references organization (id),
  subject_kind TEXT not null check (subject_kind in ('user', 'project')),
  subject TEXT not null, -- as in quota_use
  period TEXT not null,
  starts_at INTEGER not null,
  tokens INTEGER not null,
  expires_at INTEGER not null, -- by then the request has ended, or its process has died
  primary key (id, subject_kind)
) STRICT;

create index quota_reservation_subject on quota_reservation (organization_id, subject_kind, subject, period, starts_at);
create index quota_reservation_expires on quota_reservation (expires_at);

-- The people of an organization. A person is known by the subject of an identity provider, or until the first sign-in by an email address.
create table member (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  email TEXT,
  issuer TEXT, -- null until the first sign-in
  subject TEXT,
  name TEXT,
  role TEXT not null,
  role_source TEXT not null, -- 'invitation' or 'groups'
  created_at INTEGER not null,
  last_seen_at INTEGER,
  suspended_at INTEGER,
  removed_at INTEGER -- the row is kept, so that the audit log can name its actor
) STRICT;

create index member_organization on member (organization_id, id);
create unique index member_email on member (organization_id, email) where removed_at is null;
create unique index member_subject on member (organization_id, coalesce(issuer, ''), subject) where removed_at is null;

-- A session acts as an administrator key or as a member. SQLite cannot make a column nullable, so the table is copied.
create table console_session_copy (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  admin_key_id TEXT references admin_key (id), -- the session ends with its key
  digest TEXT not null unique,
  address TEXT not null,
  user_agent TEXT,
  created_at INTEGER not null,
  last_seen_at INTEGER not null,
  expires_at INTEGER not null,
  member_id TEXT references member (id), -- the session ends with its member
  check ((admin_key_id is null) <> (member_id is null))
) STRICT;

insert into console_session_copy (id, organization_id, admin_key_id, digest, address, user_agent, created_at, last_seen_at, expires_at)
  select id, organization_id, admin_key_id, digest, address, user_agent, created_at, last_seen_at, expires_at from console_session;

drop table console_session;
alter table console_session_copy rename to console_session;

create index console_session_organization on console_session (organization_id, id);
create index console_session_expiry on console_session (expires_at);
create index console_session_member on console_session (member_id) where member_id is not null;

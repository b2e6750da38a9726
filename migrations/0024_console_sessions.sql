-- Sessions of the console, and links that start one. Of cookies and links only digests are stored.
create table console_session (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  admin_key_id TEXT not null references admin_key (id), -- the session ends with its key
  digest TEXT not null unique,
  address TEXT not null,
  user_agent TEXT,
  created_at INTEGER not null,
  last_seen_at INTEGER not null,
  expires_at INTEGER not null
) STRICT;

create index console_session_organization on console_session (organization_id, id);
create index console_session_expiry on console_session (expires_at);

-- A link works once: the row is deleted when it is used.
create table console_link (
  digest TEXT primary key,
  organization_id TEXT not null references organization (id),
  admin_key_id TEXT not null references admin_key (id),
  expires_at INTEGER not null
) STRICT;

create index console_link_expiry on console_link (expires_at);

-- The secret that a rotation replaced. It is accepted until previous_expires_at. The number counts the secrets of a key.
alter table api_key add column secret_number INTEGER not null default 1;
alter table api_key add column previous_digest TEXT;
alter table api_key add column previous_secret_id TEXT;
alter table api_key add column previous_expires_at INTEGER;
create unique index api_key_previous_digest on api_key (previous_digest);

alter table admin_key add column secret_number INTEGER not null default 1;
alter table admin_key add column previous_digest TEXT;
alter table admin_key add column previous_secret_id TEXT;
alter table admin_key add column previous_expires_at INTEGER;
create unique index admin_key_previous_digest on admin_key (previous_digest);

-- Sign-ins through the identity provider that were finished, so that none is finished twice, on any node.
create table used_sign_in (
  digest TEXT primary key, -- of the state
  expires_at INTEGER not null
) STRICT;

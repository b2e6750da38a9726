-- The audit log: a hash chain per organization, what is signed for it, and where it is exported to.
-- It takes the place of audit_log, whose rows no release has ever written.
drop table audit_log;

-- The end of each chain. Whoever appends holds its row until the commit.
create table audit_chain (
  organization_id TEXT primary key references organization (id),
  chain_uid TEXT not null,
  sequence INTEGER not null, -- of the last event; 0 before the first
  fingerprint TEXT not null,
  event_id TEXT not null,
  type_uid INTEGER not null,
  first_sequence INTEGER not null, -- of the first event that is kept; retention moves it
  signed_sequence INTEGER not null, -- where the last checkpoint stands
  signed_at INTEGER not null
) STRICT;

-- Only ever added to at the end, and taken from the beginning. All but the body are copies of what it says.
create table audit_event (
  organization_id TEXT not null references organization (id),
  sequence INTEGER not null,
  id TEXT not null unique,
  chain_uid TEXT not null,
  time INTEGER not null,
  code TEXT not null,
  decision TEXT,
  request_id TEXT,
  project_id TEXT,
  policy_id TEXT,
  user_id TEXT,
  fingerprint TEXT not null,
  body TEXT not null,
  primary key (organization_id, sequence)
) STRICT;

-- What nearly every event has in common is not worth an index: the two partial ones leave plain requests out.
create index audit_event_time on audit_event (organization_id, time);
create index audit_event_code on audit_event (organization_id, code, sequence) where code <> 'gateway.request.decided';
create index audit_event_decision on audit_event (organization_id, decision, sequence) where decision <> 'allow';
create index audit_event_request on audit_event (organization_id, request_id, sequence) where request_id is not null;
create index audit_event_project on audit_event (organization_id, project_id, sequence) where project_id is not null;
create index audit_event_policy on audit_event (organization_id, policy_id, sequence) where policy_id is not null;
create index audit_event_user on audit_event (organization_id, user_id, sequence) where user_id is not null;

-- Texts of events, apart from what is hashed: a row may be erased and the chain stays whole.
create table audit_content (
  organization_id TEXT not null references organization (id),
  sequence INTEGER not null,
  content TEXT not null,
  primary key (organization_id, sequence)
) STRICT;

create table audit_checkpoint (
  organization_id TEXT not null references organization (id),
  sequence INTEGER not null,
  time INTEGER not null, -- when it was signed: everything up to it was written before
  checkpoint TEXT not null, -- with its signature
  primary key (organization_id, sequence)
) STRICT;

-- Public halves of every key that ever signed, so that old checkpoints stay checkable.
create table audit_key (
  id TEXT primary key,
  public_key TEXT not null, -- PEM
  created_at INTEGER not null
) STRICT;

create table export_sink (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  type TEXT not null,
  label TEXT not null,
  enabled INTEGER not null check (enabled in (0, 1)),
  config TEXT not null, -- without its secrets
  version INTEGER not null, -- counts up with every change
  created_at INTEGER not null,
  updated_at INTEGER not null,
  deleted_at INTEGER -- the row stays: a cursor that names it still shows the way
) STRICT;

create index export_sink_organization on export_sink (organization_id, id) where deleted_at is null;

create table export_secret (
  sink_id TEXT not null references export_sink (id),
  field TEXT not null, -- its path in the configuration, such as auth.password
  sealed BLOB not null,
  primary key (sink_id, field)
) STRICT;

-- How far each sink has come. All up to the sequence is delivered, was filtered out, or lies in the dead letters.
create table export_cursor (
  sink_id TEXT primary key references export_sink (id),
  organization_id TEXT not null references organization (id),
  sequence INTEGER not null,
  plan_last INTEGER, -- the end of the batch that was begun; it is repeated exactly
  state TEXT not null check (state in ('healthy', 'retrying', 'throttled', 'auth_error', 'config_error')),
  attempt INTEGER not null, -- failures in a row
  next_attempt_at INTEGER not null,
  failing_since INTEGER,
  alarmed_at INTEGER,
  last_success_at INTEGER,
  last_error_at INTEGER,
  last_error TEXT,
  owner TEXT, -- the one node that may send, until its lease ends
  lease_until INTEGER not null
) STRICT;

create index export_cursor_due on export_cursor (next_attempt_at);
create index export_cursor_organization on export_cursor (organization_id);

-- Events that a destination will never take.
create table export_dead_letter (
  sink_id TEXT not null references export_sink (id),
  organization_id TEXT not null references organization (id),
  sequence INTEGER not null,
  id TEXT not null, -- the event's
  reason TEXT not null,
  at INTEGER not null,
  attempts INTEGER not null,
  replay INTEGER not null check (replay in (0, 1)), -- asked for, and not tried yet
  primary key (sink_id, sequence)
) STRICT;

create index export_dead_letter_replay on export_dead_letter (sink_id) where replay = 1;

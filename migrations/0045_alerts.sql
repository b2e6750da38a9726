-- Where alerts are sent.
create table alert_channel (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  kind TEXT not null, -- webhook, slack or email
  name TEXT not null,
  paused INTEGER not null,
  config TEXT not null, -- JSON, with masks in place of secrets
  version INTEGER not null,
  last_sent_at INTEGER,
  last_error_at INTEGER,
  last_error TEXT,
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create index alert_channel_organization on alert_channel (organization_id, id);

create table alert_channel_secret (
  channel_id TEXT not null references alert_channel (id),
  field TEXT not null,
  sealed BLOB not null,
  primary key (channel_id, field)
) STRICT;

-- When alerts are sent.
create table alert_rule (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  kind TEXT not null,
  name TEXT not null,
  settings TEXT not null, -- JSON: threshold, unit, window and so on
  channel_ids TEXT not null, -- JSON
  paused INTEGER not null,
  version INTEGER not null,
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create index alert_rule_organization on alert_rule (organization_id, id);

-- Subjects that a rule applies to, or applied to until a few minutes ago. Others have no row.
create table alert_state (
  rule_id TEXT not null references alert_rule (id),
  subject TEXT not null, -- empty for the organization
  state TEXT not null, -- pending or firing
  since INTEGER not null,
  clear_since INTEGER, -- since when a firing rule does not apply
  alert_id TEXT, -- the alert that was sent
  primary key (rule_id, subject)
) STRICT;

-- What was sent: one row from the begin of an alert to its end.
create table alert (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  rule_id TEXT, -- null if no rule sent it
  rule_name TEXT not null,
  kind TEXT not null,
  subject TEXT not null,
  title TEXT not null,
  text TEXT not null,
  figure REAL,
  threshold REAL,
  unit TEXT,
  link TEXT not null, -- JSON: the page of the console that shows it
  started_at INTEGER not null,
  ended_at INTEGER
) STRICT;

create index alert_organization on alert (organization_id, id);
create index alert_started on alert (started_at);

-- The outbox: one row for each message to one channel.
create table alert_delivery (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  alert_id TEXT not null references alert (id),
  channel_id TEXT not null references alert_channel (id),
  event TEXT not null, -- fired or resolved
  state TEXT not null, -- waiting, sent or given_up
  attempts INTEGER not null,
  next_attempt_at INTEGER not null,
  owner TEXT,
  lease_until INTEGER not null,
  last_error TEXT,
  created_at INTEGER not null,
  ended_at INTEGER
) STRICT;

create index alert_delivery_waiting on alert_delivery (next_attempt_at) where state = 'waiting';
create index alert_delivery_alert on alert_delivery (alert_id, channel_id);
create index alert_delivery_channel on alert_delivery (channel_id, state);

-- The node that evaluates the rules: one row.
create table alert_evaluation (
  id INTEGER primary key,
  owner TEXT not null,
  lease_until INTEGER not null
) STRICT;

-- Upstreams that fail, as each node sees them. A row that its node does not renew is ignored.
create table failing_upstream (
  node_id TEXT not null,
  upstream TEXT not null,
  code TEXT,
  since INTEGER not null,
  seen_at INTEGER not null,
  primary key (node_id, upstream)
) STRICT;

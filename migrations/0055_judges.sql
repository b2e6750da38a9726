-- An expression: a judge is asked only about texts for which it is true.
alter table policy add column judge_when TEXT not null default '';
alter table policy_version add column judge_when TEXT not null default '';

-- Judges of an organization: what asks a model whether a text breaks a rule in plain language.
create table judge (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  name TEXT not null,
  revision INTEGER not null, -- counts up with every change
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create index judge_organization on judge (organization_id, id);

create table judge_version (
  organization_id TEXT not null references organization (id),
  judge_id TEXT not null references judge (id),
  version INTEGER not null,
  model TEXT not null,
  template TEXT, -- JSON; null: the built-in prompt
  digest TEXT not null, -- of the prompt
  parameters TEXT not null, -- JSON
  timeout_ms INTEGER not null,
  fail TEXT not null, -- closed or open
  max_usd_micros INTEGER not null, -- in a day
  state TEXT not null, -- draft, calibrated, active, shadow or retired
  share_bp INTEGER not null, -- of the questions that it is asked as a shadow
  calibration_id TEXT, -- the last one that ended
  fixed TEXT not null, -- JSON: the labels that it is asked about each night
  activated_at INTEGER,
  created_by TEXT not null,
  created_at INTEGER not null,
  primary key (judge_id, version)
) STRICT;

create unique index judge_version_active on judge_version (organization_id) where state = 'active';
create unique index judge_version_shadow on judge_version (organization_id) where state = 'shadow';

-- A judge is asked about labelled texts. The texts are those of cases, and not stored here.
create table judge_calibration (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  judge_id TEXT not null, -- file: the judge of the configuration
  version INTEGER not null,
  subject TEXT not null, -- the model and a digest of its prompt
  kind TEXT not null, -- calibration or drift
  night INTEGER, -- the day of a check for drift
  status TEXT not null, -- running, completed, failed or cancelled
  items TEXT not null, -- JSON: which cases, and what is expected of them
  left_out INTEGER not null, -- labels that no person gave
  total INTEGER not null, -- answers that it needs
  done INTEGER not null,
  report TEXT, -- JSON
  error TEXT,
  owner TEXT, -- the node that works on it, until its lease ends
  lease_until INTEGER not null,
  created_by TEXT,
  created_at INTEGER not null,
  updated_at INTEGER not null
) STRICT;

create index judge_calibration_judge on judge_calibration (organization_id, judge_id, id);
create index judge_calibration_running on judge_calibration (lease_until, id) where status = 'running';
create unique index judge_calibration_night on judge_calibration (judge_id, version, night) where night is not null;

create table judge_answer (
  calibration_id TEXT not null references judge_calibration (id),
  organization_id TEXT not null references organization (id),
  item INTEGER not null,
  round INTEGER not null,
  score_bp INTEGER, -- null if it failed
  failure TEXT,
  ms INTEGER not null,
  usd_micros INTEGER not null,
  primary key (calibration_id, item, round)
) STRICT;

-- What judges were asked and what it cost, by policy and day.
create table judge_day (
  organization_id TEXT not null references organization (id),
  judge_id TEXT not null,
  version INTEGER not null,
  policy_id TEXT not null,
  day INTEGER not null,
  asked INTEGER not null,
  remembered INTEGER not null,
  skipped INTEGER not null,
  failed INTEGER not null,
  usd_micros INTEGER not null,
  compared INTEGER not null,
  differed INTEGER not null,
  score_0 INTEGER not null,
  score_1 INTEGER not null,
  score_2 INTEGER not null,
  score_3 INTEGER not null,
  score_4 INTEGER not null,
  score_5 INTEGER not null,
  score_6 INTEGER not null,
  score_7 INTEGER not null,
  score_8 INTEGER not null,
  score_9 INTEGER not null,
  primary key (organization_id, judge_id, version, policy_id, day)
) STRICT;

create index judge_day_day on judge_day (day);

-- The model that answered, as the upstream reports it.
create table judge_seen (
  organization_id TEXT not null references organization (id),
  judge_id TEXT not null,
  version INTEGER not null,
  upstream TEXT not null,
  model TEXT not null,
  since INTEGER not null,
  primary key (organization_id, judge_id, version, upstream)
) STRICT;

-- Requests about which a shadow and the active judge said different things.
create table judge_difference (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  judge_id TEXT not null,
  version INTEGER not null,
  policy_id TEXT not null,
  request_id TEXT not null,
  active_bp INTEGER not null,
  shadow_bp INTEGER not null,
  created_at INTEGER not null
) STRICT;

create index judge_difference_judge on judge_difference (organization_id, judge_id, version, id);
create index judge_difference_created on judge_difference (created_at);

create table judge_alarm (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  judge_id TEXT not null,
  version INTEGER not null,
  kind TEXT not null,
  text TEXT not null,
  since INTEGER not null,
  ended_at INTEGER
) STRICT;

create unique index judge_alarm_open on judge_alarm (organization_id, judge_id, version, kind) where ended_at is null;

-- What of the budget of a day nodes have reserved.
create table judge_budget (
  name TEXT not null,
  day INTEGER not null,
  taken_micros INTEGER not null,
  primary key (name, day)
) STRICT;

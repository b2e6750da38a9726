-- Sums of what requests cost, by project, key, model, end user and tags. The tags are part of the primary key, so a node of before
-- cannot fold deltas any more; a node of this version folds them.
-- engine: postgres
alter table rollup add column tags TEXT not null default '';
alter table rollup drop constraint rollup_pkey;
alter table rollup add primary key
  (organization_id, kind, step, subject, start_time, project_id, key_id, model, user_id, upstream, decision, status, version,
   tags);

-- engine: sqlite
create table rollup_copy (
  organization_id TEXT not null references organization (id),
  kind TEXT not null, -- traffic, key, usage, user, cost or policy
  step INTEGER not null, -- seconds: 60, 3600, 86400 or 604800
  subject TEXT not null default '', -- of a policy: its id, or gateway
  start_time INTEGER not null, -- Unix seconds
  -- Empty where a kind does not group by it.
  project_id TEXT not null default '',
  key_id TEXT not null default '',
  model TEXT not null default '',
  user_id TEXT not null default '',
  upstream TEXT not null default '',
  decision TEXT not null default '',
  status TEXT not null default '',
  version INTEGER not null default 0,
  tags TEXT not null default '', -- env=prod,team=red
  -- Null where a kind does not have it.
  requests INTEGER not null,
  denials INTEGER,
  errors INTEGER,
  recorded_requests INTEGER,
  recorded_denials INTEGER,
  input_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  output_tokens INTEGER,
  micro INTEGER, -- micro-credits
  cost_micro_usd INTEGER,
  -- Requests by latency: below 25, 50, 100, 250, 500, 1,000, 2,500, 5,000, 10,000, 30,000, 60,000 ms, and longer.
  latency_0 INTEGER,
  latency_1 INTEGER,
  latency_2 INTEGER,
  latency_3 INTEGER,
  latency_4 INTEGER,
  latency_5 INTEGER,
  latency_6 INTEGER,
  latency_7 INTEGER,
  latency_8 INTEGER,
  latency_9 INTEGER,
  latency_10 INTEGER,
  latency_11 INTEGER,
  primary key
    (organization_id, kind, step, subject, start_time, project_id, key_id, model, user_id, upstream, decision, status, version,
     tags)
) STRICT, WITHOUT ROWID;

insert into rollup_copy
  (organization_id, kind, step, subject, start_time, project_id, key_id, model, user_id, upstream, decision, status,
   version, requests, denials, errors, recorded_requests, recorded_denials, input_tokens, cache_read_tokens,
   cache_write_tokens, output_tokens, micro, cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4,
   latency_5, latency_6, latency_7, latency_8, latency_9, latency_10, latency_11)
select organization_id, kind, step, subject, start_time, project_id, key_id, model, user_id, upstream, decision, status,
  version, requests, denials, errors, recorded_requests, recorded_denials, input_tokens, cache_read_tokens,
  cache_write_tokens, output_tokens, micro, cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4,
  latency_5, latency_6, latency_7, latency_8, latency_9, latency_10, latency_11
from rollup;

drop table rollup;
alter table rollup_copy rename to rollup;

-- engine: both
-- What was charged so far, by end user where names are still kept. Organizations without metering were charged nothing.
insert into rollup
  (organization_id, kind, step, start_time, project_id, key_id, model, user_id, requests, input_tokens, cache_read_tokens,
   cache_write_tokens, output_tokens, micro)
select organization_id, 'cost', step, start_time, project_id, key_id, model, user_id, requests, input_tokens,
  cache_read_tokens, cache_write_tokens, output_tokens, micro
from rollup where kind = 'user' and step in (3600, 86400) and subject = '';

-- Usage from before the first day with names.
insert into rollup
  (organization_id, kind, step, start_time, project_id, key_id, model, requests, input_tokens, cache_read_tokens,
   cache_write_tokens, output_tokens, micro)
select u.organization_id, 'cost', u.step, u.start_time, u.project_id, u.key_id, u.model, u.requests, u.input_tokens,
  u.cache_read_tokens, u.cache_write_tokens, u.output_tokens, u.micro
from rollup u where u.kind = 'usage' and u.step in (3600, 86400) and u.subject = ''
  and u.start_time < coalesce((select min(n.start_time) from rollup n where n.organization_id = u.organization_id
    and n.kind = 'user' and n.step = u.step and n.subject = ''), 9007199254740991);

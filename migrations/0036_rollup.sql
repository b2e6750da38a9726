-- Sums of requests, usage and decisions by the minute, hour and day, for every report.
create table rollup (
  organization_id TEXT not null references organization (id),
  kind TEXT not null, -- traffic, key, usage, user or policy
  step INTEGER not null, -- seconds: 60, 3600 or 86400
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
    (organization_id, kind, step, subject, start_time, project_id, key_id, model, user_id, upstream, decision, status, version)
) STRICT, WITHOUT ROWID;

-- What commits added and is not in the sums yet. JSON: the entries of src/domain/rollup/entry.ts.
create table rollup_delta (
  organization_id TEXT not null references organization (id),
  id TEXT not null,
  delta TEXT not null,
  primary key (organization_id, id)
) STRICT, WITHOUT ROWID;

-- Requests, with those that the old sums do not have yet. Names are cut, because callers choose some of them and an index of
-- PostgreSQL has a limit.
insert into rollup
  (organization_id, kind, step, start_time, project_id, model, upstream, decision, status, requests, denials, errors,
   input_tokens, output_tokens, cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6,
   latency_7, latency_8, latency_9, latency_10, latency_11)
select organization_id, 'traffic', 60, start_time, project_id, model, upstream, decision, status,
  cast(sum(requests) as bigint), cast(sum(case when status = 'denied' then requests else 0 end) as bigint),
  cast(sum(case when status = 'error' then requests else 0 end) as bigint), cast(sum(input_tokens) as bigint),
  cast(sum(output_tokens) as bigint), cast(sum(cost_micro_usd) as bigint), cast(sum(latency_0) as bigint),
  cast(sum(latency_1) as bigint), cast(sum(latency_2) as bigint), cast(sum(latency_3) as bigint),
  cast(sum(latency_4) as bigint), cast(sum(latency_5) as bigint), cast(sum(latency_6) as bigint),
  cast(sum(latency_7) as bigint), cast(sum(latency_8) as bigint), cast(sum(latency_9) as bigint),
  cast(sum(latency_10) as bigint), cast(sum(latency_11) as bigint)
from (
  select organization_id, start_time, project_id, substr(model, 1, 200) as model, upstream, decision, status, requests,
    input_tokens, output_tokens, cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6, latency_7, latency_8,
    latency_9, latency_10, latency_11
  from traffic where step = 60
  union all
  select e.organization_id, (e.time / 60000) * 60, coalesce(e.project_id, ''), substr(coalesce(e.model, ''), 1, 200),
    coalesce(e.upstream, ''), coalesce(e.decision, ''), coalesce(e.status, 'ok'), 1, coalesce(e.input_tokens, 0),
    coalesce(e.output_tokens, 0), coalesce(e.cost_micro_usd, 0),
    case when e.latency_ms < 25 then 1 else 0 end,
    case when e.latency_ms >= 25 and e.latency_ms < 50 then 1 else 0 end,
    case when e.latency_ms >= 50 and e.latency_ms < 100 then 1 else 0 end,
    case when e.latency_ms >= 100 and e.latency_ms < 250 then 1 else 0 end,
    case when e.latency_ms >= 250 and e.latency_ms < 500 then 1 else 0 end,
    case when e.latency_ms >= 500 and e.latency_ms < 1000 then 1 else 0 end,
    case when e.latency_ms >= 1000 and e.latency_ms < 2500 then 1 else 0 end,
    case when e.latency_ms >= 2500 and e.latency_ms < 5000 then 1 else 0 end,
    case when e.latency_ms >= 5000 and e.latency_ms < 10000 then 1 else 0 end,
    case when e.latency_ms >= 10000 and e.latency_ms < 30000 then 1 else 0 end,
    case when e.latency_ms >= 30000 and e.latency_ms < 60000 then 1 else 0 end,
    case when e.latency_ms >= 60000 then 1 else 0 end
  from audit_chain h left join traffic_cursor c on c.organization_id = h.organization_id
  join audit_event e on e.organization_id = h.organization_id and e.sequence > coalesce(c.sequence, 0)
    and e.code = 'gateway.request.decided'
) as minutes
group by organization_id, start_time, project_id, model, upstream, decision, status;

insert into rollup
  (organization_id, kind, step, start_time, key_id, requests, denials, errors, input_tokens, output_tokens, cost_micro_usd,
   latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6, latency_7, latency_8, latency_9, latency_10,
   latency_11)
select organization_id, 'key', 60, start_time, actor_id,
  cast(sum(requests) as bigint), cast(sum(case when status = 'denied' then requests else 0 end) as bigint),
  cast(sum(case when status = 'error' then requests else 0 end) as bigint), cast(sum(input_tokens) as bigint),
  cast(sum(output_tokens) as bigint), cast(sum(cost_micro_usd) as bigint), cast(sum(latency_0) as bigint),
  cast(sum(latency_1) as bigint), cast(sum(latency_2) as bigint), cast(sum(latency_3) as bigint),
  cast(sum(latency_4) as bigint), cast(sum(latency_5) as bigint), cast(sum(latency_6) as bigint),
  cast(sum(latency_7) as bigint), cast(sum(latency_8) as bigint), cast(sum(latency_9) as bigint),
  cast(sum(latency_10) as bigint), cast(sum(latency_11) as bigint)
from (
  select organization_id, start_time, substr(actor_id, 1, 200) as actor_id, status, requests, input_tokens, output_tokens,
    cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6, latency_7, latency_8,
    latency_9, latency_10, latency_11
  from traffic_by_key where step = 60
  union all
  select e.organization_id, (e.time / 60000) * 60, substr(coalesce(e.actor_id, ''), 1, 200), coalesce(e.status, 'ok'), 1,
    coalesce(e.input_tokens, 0), coalesce(e.output_tokens, 0), coalesce(e.cost_micro_usd, 0),
    case when e.latency_ms < 25 then 1 else 0 end,
    case when e.latency_ms >= 25 and e.latency_ms < 50 then 1 else 0 end,
    case when e.latency_ms >= 50 and e.latency_ms < 100 then 1 else 0 end,
    case when e.latency_ms >= 100 and e.latency_ms < 250 then 1 else 0 end,
    case when e.latency_ms >= 250 and e.latency_ms < 500 then 1 else 0 end,
    case when e.latency_ms >= 500 and e.latency_ms < 1000 then 1 else 0 end,
    case when e.latency_ms >= 1000 and e.latency_ms < 2500 then 1 else 0 end,
    case when e.latency_ms >= 2500 and e.latency_ms < 5000 then 1 else 0 end,
    case when e.latency_ms >= 5000 and e.latency_ms < 10000 then 1 else 0 end,
    case when e.latency_ms >= 10000 and e.latency_ms < 30000 then 1 else 0 end,
    case when e.latency_ms >= 30000 and e.latency_ms < 60000 then 1 else 0 end,
    case when e.latency_ms >= 60000 then 1 else 0 end
  from audit_chain h left join traffic_cursor c on c.organization_id = h.organization_id
  join audit_event e on e.organization_id = h.organization_id and e.sequence > coalesce(c.sequence, 0)
    and e.code = 'gateway.request.decided'
) as minutes
group by organization_id, start_time, actor_id;

-- The hours of minutes, and the hours that are older than the minutes.
insert into rollup
  (organization_id, kind, step, start_time, project_id, key_id, model, upstream, decision, status, requests, denials, errors,
   input_tokens, output_tokens, cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6,
   latency_7, latency_8, latency_9, latency_10, latency_11)
select organization_id, kind, 3600, (start_time / 3600) * 3600, project_id, key_id, model, upstream, decision, status,
  cast(sum(requests) as bigint), cast(sum(denials) as bigint), cast(sum(errors) as bigint),
  cast(sum(input_tokens) as bigint), cast(sum(output_tokens) as bigint), cast(sum(cost_micro_usd) as bigint),
  cast(sum(latency_0) as bigint), cast(sum(latency_1) as bigint), cast(sum(latency_2) as bigint),
  cast(sum(latency_3) as bigint), cast(sum(latency_4) as bigint), cast(sum(latency_5) as bigint),
  cast(sum(latency_6) as bigint), cast(sum(latency_7) as bigint), cast(sum(latency_8) as bigint),
  cast(sum(latency_9) as bigint), cast(sum(latency_10) as bigint), cast(sum(latency_11) as bigint)
from (
  select organization_id, kind, start_time, project_id, key_id, model, upstream, decision, status, requests, denials, errors,
    input_tokens, output_tokens, cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5,
    latency_6, latency_7, latency_8, latency_9, latency_10, latency_11
  from rollup where step = 60
  union all
  select organization_id, 'traffic', start_time, project_id, '', substr(model, 1, 200), upstream, decision, status, requests,
    case when status = 'denied' then requests else 0 end, case when status = 'error' then requests else 0 end,
    input_tokens, output_tokens, cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5,
    latency_6, latency_7, latency_8, latency_9, latency_10, latency_11
  from traffic where step = 3600
  union all
  select organization_id, 'key', start_time, '', substr(actor_id, 1, 200), '', '', '', '', requests,
    case when status = 'denied' then requests else 0 end, case when status = 'error' then requests else 0 end,
    input_tokens, output_tokens, cost_micro_usd, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5,
    latency_6, latency_7, latency_8, latency_9, latency_10, latency_11
  from traffic_by_key where step = 3600
) as hours
group by organization_id, kind, (start_time / 3600) * 3600, project_id, key_id, model, upstream, decision, status;

-- Usage, with the end users that the audit log has.
insert into rollup
  (organization_id, kind, step, start_time, project_id, key_id, model, user_id, requests, input_tokens, cache_read_tokens,
   cache_write_tokens, output_tokens, micro)
select organization_id, 'user', 3600, hour, project_id, key_id, model, user_id, count(*),
  cast(sum(input_tokens) as bigint), cast(sum(cache_read_tokens) as bigint), cast(sum(cache_write_tokens) as bigint),
  cast(sum(output_tokens) as bigint), cast(sum(micro) as bigint)
from (
  select c.organization_id, (c.at / 3600000) * 3600 as hour, c.project_id, c.key_id, c.model, c.input_tokens,
    c.cache_read_tokens, c.cache_write_tokens, c.output_tokens, c.micro,
    coalesce((select substr(e.user_id, 1, 200) from audit_event e where e.request_id = c.request_id and e.organization_id = c.organization_id
      and e.user_id is not null order by e.sequence limit 1), '') as user_id
  from charge c where c.outcome <> 'orphaned'
) as charges
group by organization_id, hour, project_id, key_id, model, user_id;

insert into rollup
  (organization_id, kind, step, start_time, project_id, key_id, model, user_id, requests, input_tokens, cache_read_tokens,
   cache_write_tokens, output_tokens, micro)
select organization_id, 'user', 86400, (start_time / 86400) * 86400, project_id, key_id, model, user_id,
  cast(sum(requests) as bigint), cast(sum(input_tokens) as bigint), cast(sum(cache_read_tokens) as bigint),
  cast(sum(cache_write_tokens) as bigint), cast(sum(output_tokens) as bigint), cast(sum(micro) as bigint)
from rollup where kind = 'user' and step = 3600
group by organization_id, (start_time / 86400) * 86400, project_id, key_id, model, user_id;

insert into rollup
  (organization_id, kind, step, start_time, project_id, key_id, model, requests, input_tokens, cache_read_tokens,
   cache_write_tokens, output_tokens, micro)
select organization_id, 'usage', step, start_time, project_id, key_id, model, cast(sum(requests) as bigint),
  cast(sum(input_tokens) as bigint), cast(sum(cache_read_tokens) as bigint), cast(sum(cache_write_tokens) as bigint),
  cast(sum(output_tokens) as bigint), cast(sum(micro) as bigint)
from rollup where kind = 'user' and subject = ''
group by organization_id, step, start_time, project_id, key_id, model;

-- Minutes are kept for two days.
insert into rollup
  (organization_id, kind, step, start_time, project_id, key_id, model, requests, input_tokens, cache_read_tokens,
   cache_write_tokens, output_tokens, micro)
select organization_id, 'usage', 60, (at / 60000) * 60, project_id, key_id, model, count(*),
  cast(sum(input_tokens) as bigint), cast(sum(cache_read_tokens) as bigint), cast(sum(cache_write_tokens) as bigint),
  cast(sum(output_tokens) as bigint), cast(sum(micro) as bigint)
from charge where outcome <> 'orphaned' and at >= (select max(at) from charge) - 180000000
group by organization_id, (at / 60000) * 60, project_id, key_id, model;

insert into rollup
  (organization_id, kind, step, subject, start_time, version, requests, denials, recorded_requests, recorded_denials)
select organization_id, 'policy', 60, subject, minute * 60, version, requests, denials, 0, 0 from decision_count;

insert into rollup
  (organization_id, kind, step, subject, start_time, version, requests, denials, recorded_requests, recorded_denials)
select organization_id, 'policy', 3600, subject, hour * 3600, version, requests, denials, recorded_requests, recorded_denials
from decision_hour;

-- The days of requests and decisions.
insert into rollup
  (organization_id, kind, step, subject, start_time, project_id, key_id, model, upstream, decision, status, version, requests,
   denials, errors, recorded_requests, recorded_denials, input_tokens, output_tokens, cost_micro_usd, latency_0, latency_1,
   latency_2, latency_3, latency_4, latency_5, latency_6, latency_7, latency_8, latency_9, latency_10, latency_11)
select organization_id, kind, 86400, subject, (start_time / 86400) * 86400, project_id, key_id, model, upstream, decision,
  status, version, cast(sum(requests) as bigint), cast(sum(denials) as bigint), cast(sum(errors) as bigint),
  cast(sum(recorded_requests) as bigint), cast(sum(recorded_denials) as bigint), cast(sum(input_tokens) as bigint),
  cast(sum(output_tokens) as bigint), cast(sum(cost_micro_usd) as bigint), cast(sum(latency_0) as bigint),
  cast(sum(latency_1) as bigint), cast(sum(latency_2) as bigint), cast(sum(latency_3) as bigint),
  cast(sum(latency_4) as bigint), cast(sum(latency_5) as bigint), cast(sum(latency_6) as bigint),
  cast(sum(latency_7) as bigint), cast(sum(latency_8) as bigint), cast(sum(latency_9) as bigint),
  cast(sum(latency_10) as bigint), cast(sum(latency_11) as bigint)
from rollup where kind in ('traffic', 'key', 'policy') and step = 3600
group by organization_id, kind, subject, (start_time / 86400) * 86400, project_id, key_id, model, upstream, decision, status,
  version;

-- The tables traffic, traffic_by_key, traffic_cursor, decision_count and decision_hour are no longer used. Nodes of the version
-- before still write them, so a later version drops them.

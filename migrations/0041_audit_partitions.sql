-- On PostgreSQL the events are in partitions by time, so that retention drops a partition instead of deleting its rows, and have
-- fewer and smaller indexes. SQLite keeps one table.
-- engine: postgres

-- Equal keys share an entry of an index if the whole key is equal. The indexes below have one column each for that reason.
drop index audit_event_facts, audit_event_request, audit_event_project, audit_event_policy, audit_event_user,
  audit_event_actor, audit_event_code, audit_event_changes;

alter table audit_event drop constraint audit_event_pkey, drop constraint audit_event_id_key;

alter index audit_event_decision rename to audit_event_before_decision;
alter index audit_event_time rename to audit_event_before_time;

alter table audit_event rename to audit_event_before;

create table audit_event (like audit_event_before including defaults) partition by range (time);

-- A key must contain the time. The sequence alone is unique all the same, because an append moves the head of its chain by
-- compare-and-set, under a lock on the head.
alter table audit_event add primary key (organization_id, sequence, time),
  add foreign key (organization_id) references organization (id);

create index audit_event_id on audit_event (id);
create index audit_event_request on audit_event (request_id) where request_id is not null;
create index audit_event_project on audit_event (project_id) where project_id is not null;
create index audit_event_policy on audit_event (policy_id) where policy_id is not null;
create index audit_event_user on audit_event (user_id) where user_id is not null;
create index audit_event_actor on audit_event (actor_id) where actor_id is not null;
create index audit_event_decision on audit_event (organization_id, decision, sequence) where decision <> 'allow';
create index audit_event_changes on audit_event (organization_id, sequence, code) where code <> 'gateway.request.decided';
create index audit_event_time on audit_event using brin (time) with (pages_per_range = 32, autosummarize = on);

-- The table becomes the partition of everything before a day that has not begun, so nodes of the version before write to it for
-- another day. Attaching it reads it once, and builds the indexes that it does not have.
do $$
declare
  day constant bigint := 86400000;
  latest constant bigint := greatest(
    cast(extract(epoch from now()) * 1000 as bigint) + day,
    (select max(newest) from audit_chain h
     cross join lateral (select max(e.time) as newest from audit_event_before e where e.organization_id = h.organization_id) as times));
begin
  drop index audit_event_before_time;
  execute format('alter table audit_event attach partition audit_event_before for values from (minvalue) to (%s)',
    (latest / day + 1) * day);
end $$;

-- Events for which no partition was created in time.
create table audit_event_default partition of audit_event default;

-- Rows of these tables are removed or changed soon after they were written. By default the server frees their space only when a
-- fifth of the table is unused.
alter table audit_body set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table rollup_delta set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table rollup set (autovacuum_vacuum_scale_factor = 0.05);

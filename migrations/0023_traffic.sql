-- Sums of requests by the minute, and after two days by the hour. They are made from the audit log.
create table traffic (
  organization_id TEXT not null references organization (id),
  step INTEGER not null, -- seconds: 60 or 3600
  start_time INTEGER not null, -- Unix seconds
  project_id TEXT not null,
  model TEXT not null,
  upstream TEXT not null,
  decision TEXT not null,
  status TEXT not null,
  requests INTEGER not null,
  input_tokens INTEGER not null,
  output_tokens INTEGER not null,
  cost_micro_usd INTEGER not null,
  -- Requests by latency: below 25, 50, 100, 250, 500, 1,000, 2,500, 5,000, 10,000, 30,000, 60,000 ms, and longer.
  latency_0 INTEGER not null,
  latency_1 INTEGER not null,
  latency_2 INTEGER not null,
  latency_3 INTEGER not null,
  latency_4 INTEGER not null,
  latency_5 INTEGER not null,
  latency_6 INTEGER not null,
  latency_7 INTEGER not null,
  latency_8 INTEGER not null,
  latency_9 INTEGER not null,
  latency_10 INTEGER not null,
  latency_11 INTEGER not null,
  primary key (organization_id, step, start_time, project_id, model, upstream, decision, status)
) STRICT;

-- Up to which event of each chain the sums go.
create table traffic_cursor (
  organization_id TEXT primary key references organization (id),
  sequence INTEGER not null
) STRICT;

-- Events from before have none of the facts that are summed up.
insert into traffic_cursor (organization_id, sequence) select organization_id, sequence from audit_chain;

-- The sums of `traffic` by the key or token of the caller. Apart from them, because the product of all columns would be many rows.
create table traffic_by_key (
  organization_id TEXT not null references organization (id),
  step INTEGER not null, -- seconds: 60 or 3600
  start_time INTEGER not null, -- Unix seconds
  actor_id TEXT not null,
  status TEXT not null,
  requests INTEGER not null,
  input_tokens INTEGER not null,
  output_tokens INTEGER not null,
  cost_micro_usd INTEGER not null,
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
  primary key (organization_id, step, start_time, actor_id, status)
) STRICT;

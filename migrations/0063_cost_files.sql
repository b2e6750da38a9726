-- Sinks of daily costs, and the files that they have.
alter table export_sink add column sends TEXT not null default 'events' check (sends in ('events', 'costs'));

-- The file of a finished day. It is written again if the sums of the day differ from its digest.
create table export_cost_file (
  organization_id TEXT not null references organization (id),
  sink_id TEXT not null references export_sink (id),
  day INTEGER not null, -- its start in UTC, Unix seconds
  digest TEXT not null, -- of the sums in the file
  row_count INTEGER not null,
  has_tags INTEGER not null check (has_tags in (0, 1)), -- 0: the day had too many rows, so its tags were left out
  written_at INTEGER not null,
  primary key (sink_id, day)
) STRICT;

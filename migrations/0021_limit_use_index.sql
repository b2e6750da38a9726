-- Every save of a counter changes its time, so the index was changed with every row. The table is read by time once at the start
-- and once an hour.
drop index limit_use_saved;

-- When a backtest was cancelled. Its status is then failed, which nodes of the version before can read.
alter table backtest add column cancelled_at INTEGER;

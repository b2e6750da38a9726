-- engine: sqlite
-- Lists of a period start at the checkpoint before it. PostgreSQL reads the partitions of the period instead.
create index audit_checkpoint_time on audit_checkpoint (organization_id, time, sequence);
-- engine: both

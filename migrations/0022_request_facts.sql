-- What requests are filtered by and summed up by, copied from the event. Null in rows from before, and in other events.
alter table audit_event add column model TEXT;
alter table audit_event add column upstream TEXT;
alter table audit_event add column status TEXT; -- ok, denied or error
alter table audit_event add column reason_code TEXT;
alter table audit_event add column categories TEXT; -- with a space before and after each
alter table audit_event add column latency_ms INTEGER;
alter table audit_event add column first_byte_ms INTEGER;
alter table audit_event add column input_tokens INTEGER;
alter table audit_event add column output_tokens INTEGER;
alter table audit_event add column cost_micro_usd INTEGER;

-- All of them in the order of the log: filters and sums read this index instead of the events, and rows are added at its end.
create index audit_event_facts on audit_event
  (organization_id, sequence, time, decision, project_id, actor_id, model, upstream, status, reason_code, categories,
   latency_ms, first_byte_ms, input_tokens, output_tokens, cost_micro_usd)
  where code = 'gateway.request.decided';

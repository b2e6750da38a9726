-- The code of the error response, so that requests can be found by it. Null in rows from before, and in other events.
alter table audit_event add column error_code TEXT;

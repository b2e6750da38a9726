-- The object that a change is about, so that its events can be found. Null in rows from before, and in events of requests.
alter table audit_event add column resource_id TEXT;
create index audit_event_resource on audit_event (organization_id, resource_id, sequence) where resource_id is not null;

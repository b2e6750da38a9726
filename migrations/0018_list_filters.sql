-- The key or token behind an event, so that the log can be filtered by it. Null in rows from before.
alter table audit_event add column actor_id TEXT;
create index audit_event_actor on audit_event (organization_id, actor_id, sequence) where actor_id is not null;

-- With the project and the id of the entry in it, this index alone finds the ledger's entries of a time or a project.
drop index charge_organization;
create index charge_organization on charge (organization_id, at, project_id, id);

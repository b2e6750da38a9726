-- Events that are no requests, in the order of the log: changes by administrators and acts of the service are few among many.
create index audit_event_changes on audit_event (organization_id, sequence) where code <> 'gateway.request.decided';

-- Ids of requests grow with time and are nobody else's: without the organization in front, new ones of all organizations go to the
-- end of one index, where each wrote a page of its own.
drop index audit_event_request;
create index audit_event_request on audit_event (request_id, sequence) where request_id is not null;

-- With the sequence in it, this index alone tells between which sequences a time lies.
drop index audit_event_time;
create index audit_event_time on audit_event (organization_id, time, sequence);

-- Ids of requests grow with time and are nobody else's: without the organization in front, new ones of all organizations go to the
-- end of one index, where each wrote a page of its own.
drop index audit_event_request;
create index audit_event_request on audit_event (request_id, sequence) where request_id is not null;

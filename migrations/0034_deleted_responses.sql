-- A deleted response keeps its row without its texts, so that the responses after it still find the ones before it.
alter table stored_response add column is_deleted INTEGER not null default 0;

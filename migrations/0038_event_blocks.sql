-- Bodies of the newest events, until a block of them is complete. The body in audit_event is empty then. Events that are written
-- together with a change, and those from before this migration, have it there.
create table audit_body (
  organization_id TEXT not null references organization (id),
  sequence INTEGER not null,
  body TEXT not null,
  primary key (organization_id, sequence)
) STRICT;

-- Bodies of 128 events, compressed: one line each, empty if the body is elsewhere or the event is no longer kept.
create table audit_block (
  organization_id TEXT not null references organization (id),
  block INTEGER not null, -- block 0 has the events 1 to 128
  bodies BLOB not null, -- zstd
  primary key (organization_id, block)
) STRICT;

-- Up to here no event has its body in audit_body.
alter table audit_chain add column packed_sequence INTEGER not null default 0;
update audit_chain set packed_sequence = sequence;

-- 1 if the node can read blocks. Nodes of the version before leave it empty, and no event is written to audit_body beside them.
alter table node add column reads_blocks INTEGER;

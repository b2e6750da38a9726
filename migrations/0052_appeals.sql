-- Appeals against decisions on requests, and what people say about the texts.
create table appeal (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  event_id TEXT not null, -- the decision, in the audit log
  request_id TEXT, -- its request, by which texts are erased
  project_id TEXT,
  policy_id TEXT, -- null: the decision is not about a policy
  policy_version INTEGER,
  deciding_check TEXT, -- null: every check allowed the request
  direction TEXT not null, -- request or response
  claim TEXT not null, -- should_be_allowed or should_be_denied
  origin TEXT not null, -- caller, person or administrator
  opened_by TEXT, -- the key or member; null: a person with the address of the decision
  sealed_note BLOB, -- encrypted; null after it was erased
  state TEXT not null, -- open, overturned, upheld, dismissed or expired
  case_id TEXT, -- the case that the text became
  opened_at INTEGER not null,
  expires_at INTEGER not null,
  closed_at INTEGER,
  closed_by TEXT,
  sealed_reason BLOB -- the answer to who opened it, encrypted; null without one, and after it was erased
) STRICT;

create unique index appeal_event on appeal (organization_id, event_id);
create index appeal_state on appeal (organization_id, state, id);
create index appeal_policy on appeal (organization_id, policy_id, id);
create index appeal_opener on appeal (organization_id, opened_by, opened_at);
create index appeal_closed on appeal (organization_id, closed_at) where closed_at is not null;
create index appeal_due on appeal (expires_at) where state = 'open';
create index appeal_request on appeal (organization_id, request_id) where request_id is not null;

-- What a person says about the text of a decision.
create table label (
  id TEXT primary key,
  organization_id TEXT not null references organization (id),
  appeal_id TEXT not null references appeal (id),
  event_id TEXT not null,
  request_id TEXT,
  case_id TEXT, -- the case that the text became
  policy_id TEXT,
  should TEXT not null, -- match, no_match or unsure
  blind INTEGER not null, -- 1: the person had not seen the decision
  sealed_note BLOB, -- encrypted; null without one, and after it was erased
  labelled_by TEXT not null,
  labelled_at INTEGER not null
) STRICT;

create unique index label_person on label (appeal_id, labelled_by);
create index label_policy on label (organization_id, policy_id, id);
create index label_request on label (organization_id, request_id) where request_id is not null;

-- Where two judges differ, people review the text. Such a review keeps nobody from appealing the decision.
drop index appeal_event;
create unique index appeal_event on appeal (organization_id, event_id) where origin <> 'judge';
create unique index appeal_judge on appeal (organization_id, event_id, policy_id, direction) where origin = 'judge';

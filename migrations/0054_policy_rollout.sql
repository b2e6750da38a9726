-- The share of users that a policy is enforced for. For the others it is evaluated and recorded.
alter table policy add column rollout_percent INTEGER not null default 100;

-- Callers on the other side of a rollout, so that both sides can be compared.
alter table decision_caller add column observed_minute INTEGER not null default 0; -- the last one; Unix time
alter table decision_caller add column matched_minute INTEGER not null default 0; -- the last one with a match; 0 if none

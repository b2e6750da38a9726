-- How much of a text a judge evaluates at once: the whole block, or one paragraph after the other.
alter table policy add column judge_window TEXT not null default 'block';
alter table policy_version add column judge_window TEXT not null default 'block';

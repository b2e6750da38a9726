-- Why labels of a calibration do not count, and how many: JSON. Null in a calibration from before.
alter table judge_calibration add column left_out_by TEXT;

-- The judge of the configuration is checked each night for each organization.
drop index judge_calibration_night;
create unique index judge_calibration_night on judge_calibration (organization_id, judge_id, version, night) where night is not null;

-- The text of the request about which two judges differ, and what became of it.
alter table judge_difference add column direction TEXT not null default 'request'; -- request or response
alter table judge_difference add column review TEXT; -- null: not looked at; an appeal, or why there is none
create index judge_difference_review on judge_difference (organization_id, created_at) where review is null;

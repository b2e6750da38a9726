-- Who published or saved a version, and why. Null in versions from before.
alter table policy_version add column published_by TEXT;
alter table policy_version add column reason TEXT;
alter table gateway_config_version add column created_by TEXT;

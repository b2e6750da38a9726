-- Which server secret a key's digest was made under: a digest cannot be made again without the key, so a rotation counts those that
-- still need the secret before. Null for keys that were not used since this column is there.
alter table api_key add column secret_id TEXT;
alter table admin_key add column secret_id TEXT;

-- The key of the digests of texts that were written under an earlier server secret, encrypted with the current one.
alter table audit_key add column texts_key BLOB;

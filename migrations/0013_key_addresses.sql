-- The addresses that a key may be used from: a JSON list of networks. Null is everywhere, as for all keys until now.
alter table api_key add column allowed_ips TEXT;
alter table admin_key add column allowed_ips TEXT;

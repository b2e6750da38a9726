-- What an upstream reported in all, where that cannot be true and our own count was charged in its place.
alter table charge add column reported_tokens INTEGER;

-- Sums of end users by the week, so that a sum over a month does not read a row of each user for each day. Weeks begin where Unix time
-- divided by their length is whole. Days of the current week are in its sums already.
insert into rollup
  (organization_id, kind, step, start_time, project_id, key_id, model, user_id, requests, input_tokens, cache_read_tokens,
   cache_write_tokens, output_tokens, micro)
select organization_id, 'user', 604800, (start_time / 604800) * 604800, project_id, key_id, model, user_id,
  cast(sum(requests) as bigint), cast(sum(input_tokens) as bigint), cast(sum(cache_read_tokens) as bigint),
  cast(sum(cache_write_tokens) as bigint), cast(sum(output_tokens) as bigint), cast(sum(micro) as bigint)
from rollup where kind = 'user' and step = 86400 and subject = ''
group by organization_id, (start_time / 604800) * 604800, project_id, key_id, model, user_id;

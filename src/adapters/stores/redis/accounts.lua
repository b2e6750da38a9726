-- Reads the slice and the open holds. KEYS 3 slice. ARGV 1 time in tests
local now = advance_clock(redis.call('HGET', KEYS[1], 't'), ARGV[1])
local slice = redis.call('HMGET', KEYS[3], 'epoch', 'slice', 'amount', 'left')
local holds = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 2) == 'h:' then
    local tokens, micro, _, deadline, _, slice_id, project, key = unpack_at(HOLD, redis.call('HGET', KEYS[1], field))
    holds[#holds + 1] = { string.sub(field, 3), project, key, tokens, micro, slice_id, deadline <= now and 1 or 0 }
  end
end
return { slice[1] and slice or {}, holds }

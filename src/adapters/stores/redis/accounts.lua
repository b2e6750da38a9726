-- Reads the slice and the open holds. KEYS 1 organization's state, 2 slice, 3 holds, 4 deadlines of holds
-- ARGV 1 time in tests
local now = advance_clock(decode(redis.call('GET', KEYS[1])), ARGV[1])
local slice = redis.call('HMGET', KEYS[2], 'epoch', 'slice', 'amount', 'left')
local holds = {}
local deadlines = redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES')
for at = 1, #deadlines, 2 do
  local hold = redis.call('HGET', KEYS[3], deadlines[at])
  if hold then
    local tokens, micro, slice_id, _, project, key = unpack(cmsgpack.unpack(hold))
    local overdue = tonumber(deadlines[at + 1]) <= now and 1 or 0
    holds[#holds + 1] = { deadlines[at], project, key, tokens, micro, slice_id, overdue }
  end
end
return { slice[1] and slice or {}, holds }

-- Renews the slots of open requests, and restores those that have expired. ARGV 1 time in tests, 2 lease ms, then request ids
local now, offset, no_expiry_before, is_new_hour = advance_clock(redis.call('HGET', KEYS[1], 't'), ARGV[1])
local expiry = now + ARGV[2]
redis.call('HSET', KEYS[1], 't', pack(CLOCK, now, offset, lower_bound(no_expiry_before, expiry)))
for at = 3, #ARGV do
  local hold = redis.call('HGET', KEYS[1], 'h:' .. ARGV[at])
  local _, _, _, deadline = unpack_at(HOLD, hold or pack(HOLD, 0, 0, 0, 0, 0, '', '', ''))
  if deadline > now then
    set_lease(ARGV[at], hold, expiry)
  end
end
if is_new_hour then
  keep()
end
return #ARGV - 2

-- Opens a slice of credits, or tops up the open one to its total amount so far.
-- KEYS 1 slice. ARGV 1 epoch, 2 slice id, 3 amount, 4 whether it opens
local found = redis.call('HMGET', KEYS[1], 'epoch', 'slice', 'amount')
if found[1] ~= ARGV[1] then
  if ARGV[4] ~= '1' then
    return 'stale'
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'slice', ARGV[2], 'amount', ARGV[3], 'left', ARGV[3])
  return 'granted'
end
if found[2] ~= ARGV[2] then
  return 'taken'
end
local more = tonumber(ARGV[3]) - tonumber(found[3])
if more > 0 then
  redis.call('HINCRBY', KEYS[1], 'amount', string.format('%d', more))
  redis.call('HINCRBY', KEYS[1], 'left', string.format('%d', more))
end
return 'granted'

-- KEYS 1 slice. ARGV 1 epoch, 2 slice id
local found = redis.call('HMGET', KEYS[1], 'epoch', 'slice')
if found[1] == ARGV[1] and found[2] == ARGV[2] then
  redis.call('DEL', KEYS[1])
end
return 'closed'

-- Frees the slots of a request. ARGV 1 request id
local hold = redis.call('HGET', KEYS[1], 'h:' .. ARGV[1])
if hold then
  set_lease(ARGV[1], hold, 0)
end
return 'left'

-- Lists the nodes that have contributed their whole usage to this run of the server. If the state is lost, so is the list.
-- KEYS 1 list. ARGV 1 node, 2 whether it has contributed
local time = redis.call('TIME')
local now = tonumber(time[1])
if ARGV[2] == '1' or redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 86400)
  redis.call('PEXPIRE', KEYS[1], 604800000)
end
return redis.call('ZRANGE', KEYS[1], 0, -1)

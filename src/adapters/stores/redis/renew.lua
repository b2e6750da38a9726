-- Renews the slots of one organization's open requests, and restores those that have expired.
-- KEYS 1 organization's state, 2 deadlines of holds, then for each request the leases of key, project, organization
-- ARGV 1 time in tests, 2 lease ms, then the request ids
local organization = decode(redis.call('GET', KEYS[1]))
local now = advance_clock(organization, ARGV[1])
save(KEYS[1], organization)
for at = 3, #ARGV do
  local deadline = redis.call('ZSCORE', KEYS[2], ARGV[at])
  if deadline and tonumber(deadline) > now then
    for lease = at * 3 - 6, at * 3 - 4 do
      redis.call('ZADD', KEYS[lease], integer(now + ARGV[2]), ARGV[at])
      redis.call('PEXPIRE', KEYS[lease], integer(4 * ARGV[2]))
    end
  end
end
return #ARGV - 2

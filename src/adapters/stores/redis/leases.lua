-- Prepended to the scripts that change leases without counting a request.

local function count_leases(change, project, key)
  local fields = { 'k:' .. key, 'p:' .. project, 'o' }
  for _, field in ipairs(fields) do
    local counters = decode(redis.call('HGET', KEYS[1], field))
    counters[LEASES] = max(0, counters[LEASES] + change)
    redis.call('HSET', KEYS[1], field, encode(counters))
  end
end

-- Replaces the lease of a hold. An expiry of 0 ends it.
local function set_lease(id, hold, expiry)
  local tokens, micro, admitted_at, deadline, lease, slice, project, key = unpack_at(HOLD, hold)
  if lease > 0 then
    order_lease('ZREM', id, lease, project, key)
  end
  if expiry > 0 then
    order_lease('ZADD', id, expiry, project, key)
  end
  if (lease > 0) ~= (expiry > 0) then
    count_leases(expiry > 0 and 1 or -1, project, key)
  end
  redis.call('HSET', KEYS[1], 'h:' .. id, pack(HOLD, tokens, micro, admitted_at, deadline, expiry, slice, project, key))
end

-- Without leases, the bound is the expiry of the first one.
local function lower_bound(no_expiry_before, expiry)
  local leases = decode(redis.call('HGET', KEYS[1], 'o'))[LEASES]
  return leases == 0 and expiry or min(no_expiry_before, expiry)
end

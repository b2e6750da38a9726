-- Begins to count budgets, or opens their counters with what the ledger says.
-- KEYS 1 counters. ARGV 1 time in tests, 2 token, 3 the counters: name, spent (-1: the count begins), expiry, phase
local BUDGETS = 1
local token, wanted = tonumber(ARGV[2]), read_named(ARGV[3])
local version, counters = read_counters(wanted)
local changed = {}
for _, named in ipairs(wanted) do
  local name, spent, expires = named[1], named[2], named[3]
  local counter, marker = counters[name], version * PHASES + named[4]
  if spent == -1 then
    if not counter then
      changed[name] = { token, 0, 0, 0, token, marker, -1, expires }
    elseif counter[OPENED] < marker then -- otherwise another request opened it meanwhile
      counter[SINCE], counter[TOKEN], counter[BEGAN] = 0, token, marker
      changed[name] = counter
    end
  elseif counter and counter[TOKEN] == token and counter[SINCE] ~= -1 then
    counter[SPENT], counter[SINCE], counter[OPENED] = spent + counter[SINCE], -1, counter[BEGAN]
    changed[name] = counter
  end
end
if next(changed) == nil then
  return
end
write_counters(changed)

-- Removes some counters of earlier periods, and some without holds if there are too many, because callers name users.
local now = ARGV[1]
if now == '' then
  now = redis.call('TIME')[1] * 1000
end
local is_full = redis.call('HLEN', KEYS[BUDGETS]) > 100000
local found = redis.call('HSCAN', KEYS[BUDGETS], redis.call('HGET', KEYS[BUDGETS], 'c') or '0', 'COUNT', '20')
for at = 1, #found[2], 2 do
  local name = found[2][at]
  if name ~= 'v' and name ~= 'c' and not changed[name] then
    local counter = { unpack_at(COUNTER, found[2][at + 1]) }
    if counter[EXPIRES] <= tonumber(now) or is_full and counter[HELD] == 0 then
      redis.call('HDEL', KEYS[BUDGETS], name)
    end
  end
end
redis.call('HSET', KEYS[BUDGETS], 'c', found[1])

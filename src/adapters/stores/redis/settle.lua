-- Ends a request: frees its slots, corrects tokens and credits to what it used.
-- KEYS 3-5 rings of key, project, organization, 6 slice, 7 counters of budgets. ARGV 1 time in tests, 2 project, 3 key, 4 request id,
-- 5 tokens, 6 micro-credits, 7 whether it is known what was used of budgets, 8 that: counter, amount
local BUDGETS = 7
local project, key, id, used, micro = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local fields = { 'k:' .. key, 'p:' .. project, 'o' }

local raw = redis.call('HMGET', KEYS[1], 't', 'h:' .. id, fields[1], fields[2], fields[3], 'b:' .. id)
local now, offset, no_expiry_before, is_new_hour = advance_clock(raw[1], ARGV[1])
local changes = { 't', pack(CLOCK, now, offset, no_expiry_before) }

if raw[6] or ARGV[8] ~= '' then
  settle_budgets(raw[6] or '', ARGV[7] == '1', ARGV[8])
  redis.call('HDEL', KEYS[1], 'b:' .. id)
end

if raw[2] then
  local reserved, estimate, admitted_at, _, lease, slice = unpack_at(HOLD, raw[2])
  redis.call('HDEL', KEYS[1], 'h:' .. id)
  if lease > 0 then
    order_lease('ZREM', id, lease, project, key)
  end
  if estimate ~= -1 and estimate ~= micro and redis.call('HGET', KEYS[6], 'slice') == slice then
    redis.call('HINCRBY', KEYS[6], 'left', integer(estimate - micro))
  end
  for scope = 1, 3 do
    local counters, ring = decode(raw[2 + scope]), KEYS[2 + scope]
    if lease > 0 then
      counters[LEASES] = max(0, counters[LEASES] - 1)
    end
    slide(counters, now, ring)
    -- An excess is returned to the slot in which it was reserved. A shortage counts from now on.
    if used < reserved then
      take_back(counters, MINUTE, admitted_at, reserved - used, ring)
      take_back(counters, DAY, admitted_at, reserved - used, ring)
    elseif used > reserved then
      add(counters, MINUTE, 0, used - reserved)
      add(counters, DAY, 0, used - reserved)
    end
    changes[scope * 2 + 1], changes[scope * 2 + 2] = fields[scope], encode(counters)
  end
end
redis.call('HSET', KEYS[1], unpack(changes))
if is_new_hour then
  keep()
end
return raw[2] and 'settled' or 'gone'

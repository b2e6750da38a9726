-- Adds the usage that a node counted locally, without this server, to the state of an organization, exactly once.
-- KEYS 3 contributions: the number of each node's last one; 4 counters of budgets; from 5 the ring of each scope
-- ARGV 1 time in tests, 2 epoch, 3 the incarnation that the node knows (empty: it contributes its whole usage),
--      4 node, 5 number of the contribution, 6 lease ms, 7 hold ms,
--      8 JSON: { scopes = { { field, minute = records, day = records } }, running = { { id, tokens, at, project, key } } }
local epoch, known, node, number = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local is_all = known == ''

local raw = redis.call('HMGET', KEYS[1], 't', 'i')
local written_until = raw[1] and unpack_at(CLOCK, raw[1]) or 0
local now, offset, no_expiry_before = advance_clock(raw[1], ARGV[1])

local incarnation = raw[2] or ''
if not is_all and incarnation ~= known then
  return { 'forgotten', '' }
end
-- An incarnation is named after the run of the server, and after the time until which its first state was complete.
local _, _, run, complete_until = string.find(incarnation, '^(%w+):(%d+):')
-- Without the contributions it would be unknown which nodes have contributed to it.
if run ~= epoch or redis.call('EXISTS', KEYS[3]) == 0 then
  complete_until = integer(written_until)
  incarnation = epoch .. ':' .. complete_until .. ':' .. node .. '.' .. integer(number)
  redis.call('DEL', KEYS[3], KEYS[4])
  redis.call('HSET', KEYS[1], 'i', incarnation)
end
complete_until = tonumber(complete_until)
local last = tonumber(redis.call('HGET', KEYS[3], node))
if last and last >= number then
  return { 'counted', incarnation }
end
if last and is_all then
  return { 'known', incarnation }
end
redis.call('HSET', KEYS[3], node, integer(number))
redis.call('PEXPIRE', KEYS[3], KEEP_MS)

-- Usage that the first state already contains is not added again. For the slot in which that state ends, the larger count
-- is used.
local function merge(counters, at, added, ring)
  local slot_ms, slots = shape(at)
  local newest, cut = counters[at + SLOT], is_all and floor(complete_until / slot_ms) or -1
  for _, record in ipairs(added) do
    local slot, requests, tokens = min(record[1], newest), record[2], record[3]
    if slot > newest - slots and slot >= cut then
      local present_requests, present_tokens = counts_in(counters, at, slot, ring)
      if slot == cut then
        requests, tokens = max(0, requests - present_requests), max(0, tokens - present_tokens)
      end
      if slot == newest then
        add(counters, at, requests, tokens)
      else
        counters[at + REQUESTS], counters[at + TOKENS] = counters[at + REQUESTS] + requests, counters[at + TOKENS] + tokens
        write_record(ring, at, slot, present_requests + requests, present_tokens + tokens)
      end
    end
  end
end

local use = cjson.decode(ARGV[8])
for index, scope in ipairs(use.scopes) do
  local counters, ring = decode(redis.call('HGET', KEYS[1], scope.field)), KEYS[4 + index]
  slide(counters, now, ring)
  merge(counters, MINUTE, scope.minute, ring)
  merge(counters, DAY, scope.day, ring)
  redis.call('HSET', KEYS[1], scope.field, encode(counters))
end

-- What was used elsewhere was spent of budgets too.
if #use.scopes > 0 then
  redis.call('HINCRBY', KEYS[4], 'v', '1')
  redis.call('PEXPIRE', KEYS[4], KEEP_MS)
end

local expiry = now + ARGV[6]
redis.call('HSET', KEYS[1], 't', pack(CLOCK, now, offset, lower_bound(no_expiry_before, expiry)))
for _, request in ipairs(use.running) do
  local id, tokens, admitted_at, project, key = unpack(request)
  if redis.call('HEXISTS', KEYS[1], 'h:' .. id) == 0 then
    admitted_at = min(admitted_at, now)
    set_lease(id, pack(HOLD, tokens, -1, admitted_at, admitted_at + ARGV[7], 0, '', project, key), expiry)
  end
end
keep()
return { 'counted', incarnation }

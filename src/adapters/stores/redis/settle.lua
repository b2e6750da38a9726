-- Ends a request: frees its slots, corrects tokens and credits to what it used.
-- KEYS as for admit. ARGV 1 time in tests, 2 request id, 3 tokens, 4 micro-credits
local ID, TOKENS, MICRO = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

for scope = 1, 3 do
  redis.call('ZREM', KEYS[3 + scope], ID)
end

local raw = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
local organization = decode(raw[3])
local now = advance_clock(organization, ARGV[1])
local hold = redis.call('HGET', KEYS[8], ID)
if not hold then
  save(KEYS[3], organization)
  return 'gone'
end
redis.call('HDEL', KEYS[8], ID)
redis.call('ZREM', KEYS[9], ID)

local reserved, estimate, slice, admitted_at = unpack(cmsgpack.unpack(hold))
if estimate ~= -1 and estimate ~= MICRO and redis.call('HGET', KEYS[7], 'slice') == slice then
  redis.call('HINCRBY', KEYS[7], 'left', integer(estimate - MICRO))
end

-- An excess is returned to the slot in which it was reserved. A shortage counts from now on.
local function correct(window)
  slide(window, now)
  if TOKENS < reserved then
    take_back(window, admitted_at, reserved - TOKENS)
  elseif TOKENS > reserved then
    add(window, now, 0, TOKENS - reserved)
  end
end

local states = { decode(raw[1]), decode(raw[2]), organization }
for scope = 1, 3 do
  correct(states[scope].minute)
  correct(states[scope].day)
  save(KEYS[scope], states[scope])
end
return 'settled'

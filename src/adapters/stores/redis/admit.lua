-- One atomic decision over the limits of key, project and organization and over the credits. Reserves everything or nothing.
-- KEYS 1-3 states, 4-6 leases (key, project, organization each), 7 slice, 8 holds, 9 deadlines of holds, 10 incarnation
-- ARGV 1 time in tests, 2 epoch, 3 lease ms, 4 hold ms, 5 in how many scopes a rejected request counts,
--      6-20 limits (rpm rpd tpm tpd concurrent of key, project, organization), 21 mode,
--      22 request id, 23 tokens, 24 micro-credits (empty: not metered), 25 project, 26 key,
--      27 the incarnation that the caller has contributed to
local EPOCH, LEASE_MS, HOLD_FOR_MS, REJECTED_SCOPES = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local RUNS, TAKES = ARGV[21] ~= 'count', ARGV[21] ~= 'check'
local ID, TOKENS, MICRO = ARGV[22], tonumber(ARGV[23]), tonumber(ARGV[24])
local METERED = RUNS and MICRO ~= nil
-- The window and the count of each metric, in the order of the limits. The last metric, requests in flight, is counted by the
-- leases.
local WINDOWS = { 'minute', 'day', 'minute', 'day' }
local COUNTS = { 'requests', 'requests', 'tokens', 'tokens' }
local NEEDS = RUNS and { 1, 1, TOKENS, TOKENS, 1 } or { 1, 1, 0, 0, 0 }

local raw = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[10])
-- The caller has contributed to another incarnation: the state was lost, or restored from an old copy.
if (raw[4] or '') ~= ARGV[27] or ARGV[27] == '' then
  return { 'forgotten' }
end
local states = { decode(raw[1]), decode(raw[2]), decode(raw[3]) }
local now = advance_clock(states[3], ARGV[1])
local in_flight = {}
for scope = 1, 3 do
  slide(states[scope].minute, now)
  slide(states[scope].day, now)
  redis.call('ZREMRANGEBYSCORE', KEYS[3 + scope], '-inf', integer(now))
  in_flight[scope] = redis.call('ZCARD', KEYS[3 + scope])
end

local slice, left = '', 0
if METERED then
  local fields = redis.call('HMGET', KEYS[7], 'epoch', 'slice', 'left')
  if fields[1] == EPOCH then
    slice, left = fields[2], tonumber(fields[3])
  end
end

local function excess_at(scope, metric)
  local limit, need = tonumber(ARGV[scope * 5 + metric]), NEEDS[metric]
  if limit == 0 or need == 0 then
    return 0
  end
  local window = WINDOWS[metric]
  local used = window and states[scope][window][COUNTS[metric]] or in_flight[scope]
  return used + need - limit
end

local function wait_at(scope, metric)
  local excess, window = excess_at(scope, metric), WINDOWS[metric]
  if excess <= 0 then
    return 0
  end
  if window then
    return wait_ms(states[scope][window], COUNTS[metric], excess, now)
  end
  local nth = integer(excess - 1)
  return redis.call('ZRANGE', KEYS[3 + scope], nth, nth, 'WITHSCORES')[2] - now
end

-- The longest wait, and the scope and metric that cause it.
local function longest_wait()
  local longest, at_scope, at_metric = 0, 0, 0
  for scope = 1, 3 do
    for metric = 1, 5 do
      local wait = wait_at(scope, metric)
      if wait > longest then
        longest, at_scope, at_metric = wait, scope, metric
      end
    end
  end
  return longest, at_scope, at_metric
end

local function reply(verdict, scope, metric, wait)
  local answer = { verdict, scope, metric, wait == math.huge and -1 or wait, slice, left, now }
  for at_scope = 1, 3 do
    local in_minute, in_day, at = states[at_scope].minute, states[at_scope].day, at_scope * 9 - 2
    local rpm_ms, tpm_ms = resets_ms(in_minute, now)
    local rpd_ms, tpd_ms = resets_ms(in_day, now)
    answer[at + 1], answer[at + 2] = in_minute.requests, rpm_ms
    answer[at + 3], answer[at + 4] = in_day.requests, rpd_ms
    answer[at + 5], answer[at + 6] = in_minute.tokens, tpm_ms
    answer[at + 7], answer[at + 8] = in_day.tokens, tpd_ms
    answer[at + 9] = in_flight[at_scope]
  end
  return answer
end

local function count(at_scope, tokens)
  add(states[at_scope].minute, now, 1, tokens)
  add(states[at_scope].day, now, 1, tokens)
  save(KEYS[at_scope], states[at_scope])
end

local existing = RUNS and TAKES and redis.call('HGET', KEYS[8], ID)
if existing then
  local tokens, _, held_slice, admitted_at, project, key = unpack(cmsgpack.unpack(existing))
  -- A node may have contributed the request before it was admitted here. A contribution holds no credits.
  local lacks_credits = METERED and held_slice == ''
  if lacks_credits and (slice == '' or MICRO > left) then
    redis.call('HDEL', KEYS[8], ID)
    redis.call('ZREM', KEYS[9], ID)
    for scope = 1, 3 do
      in_flight[scope] = in_flight[scope] - redis.call('ZREM', KEYS[3 + scope], ID)
      take_back(states[scope].minute, admitted_at, tokens)
      take_back(states[scope].day, admitted_at, tokens)
      save(KEYS[scope], states[scope])
    end
    return reply('credits', 3, 0, 0)
  end
  if lacks_credits then
    left = redis.call('HINCRBY', KEYS[7], 'left', integer(-MICRO))
    redis.call('HSET', KEYS[8], ID, cmsgpack.pack({ tokens, MICRO, slice, admitted_at, project, key }))
  else
    slice = held_slice
  end
  save(KEYS[3], states[3])
  return reply('duplicate', 0, 0, 0)
end

local wait, scope, metric = longest_wait()
if wait > 0 then
  local counts = TAKES and REJECTED_SCOPES or 0
  for counted = 1, counts do
    count(counted, 0)
  end
  if counts < 3 then
    save(KEYS[3], states[3])
  end
  return reply('refused', scope, metric, (longest_wait()))
end

if METERED and (slice == '' or MICRO > left) then
  save(KEYS[3], states[3])
  return reply('credits', 3, 0, 0)
end

if not TAKES then
  save(KEYS[3], states[3])
  return reply('admitted', 0, 0, 0)
end

for at = 1, 3 do
  count(at, RUNS and TOKENS or 0)
end

if RUNS then
  for at = 1, 3 do
    redis.call('ZADD', KEYS[3 + at], integer(now + LEASE_MS), ID)
    redis.call('PEXPIRE', KEYS[3 + at], integer(4 * LEASE_MS))
    in_flight[at] = in_flight[at] + 1
  end
  if METERED and MICRO > 0 then
    left = redis.call('HINCRBY', KEYS[7], 'left', integer(-MICRO))
  end
  redis.call('HSET', KEYS[8], ID, cmsgpack.pack({ TOKENS, MICRO or -1, slice, now, ARGV[25], ARGV[26] }))
  redis.call('PEXPIRE', KEYS[8], HOLD_MS)
  redis.call('ZADD', KEYS[9], integer(now + HOLD_FOR_MS), ID)
  redis.call('PEXPIRE', KEYS[9], HOLD_MS)
end
return reply('admitted', 0, 0, 0)

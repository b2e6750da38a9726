-- One atomic decision over the limits of key, project and organization and over the credits. Reserves everything or nothing.
-- KEYS 3-5 rings of key, project, organization, 6 slice, 7 counters of budgets
-- ARGV 1 time in tests, 2 epoch, 3 the incarnation that the caller has contributed to, 4 project, 5 key, 6 mode, 7 request id,
--      8 numbers: the limits (rpm rpd tpm tpd concurrent of key, project, organization), lease ms, hold ms,
--        in how many scopes a rejected request counts, tokens, micro-credits (-1: not metered),
--      9 what it may use of budgets: counter, amount, limit, phase
local NUMBERS = '<dddddddddddddddddddd'
local FORGOTTEN = 0
local ADMITTED = 1
local DUPLICATE = 2
local REFUSED = 3
local NO_CREDITS = 4
local OVER_BUDGET = 5
local BUDGETS = 7

local project, key, id = ARGV[4], ARGV[5], ARGV[7]
local runs, takes = ARGV[6] ~= 'count', ARGV[6] ~= 'check'
local rules = { unpack_at(NUMBERS, ARGV[8]) }
local tokens, micro = rules[19], rules[20]
local is_metered = runs and micro ~= -1
local fields = { 'k:' .. key, 'p:' .. project, 'o' }

local raw = redis.call('HMGET', KEYS[1], 'i', 't', 'h:' .. id, fields[1], fields[2], fields[3], 'b:' .. id)
-- The caller has contributed to another incarnation: the state was lost, or restored from an old copy.
if raw[1] ~= ARGV[3] then
  return pack('B', FORGOTTEN)
end
local now, offset, no_expiry_before, is_new_hour = advance_clock(raw[2], ARGV[1])
local scopes = { decode(raw[4]), decode(raw[5]), decode(raw[6]) }
local in_flight = { scopes[1][LEASES], scopes[2][LEASES], scopes[3][LEASES] }
slide(scopes[1], now, KEYS[3])
slide(scopes[2], now, KEYS[4])
slide(scopes[3], now, KEYS[5])

-- The range of a scope's leases that have not expired.
local function unexpired(scope)
  local prefix = scope == 1 and 'k' .. key or scope == 2 and 'p' .. project or 'o'
  return '[' .. prefix .. '\0' .. pack(EXPIRY, now + 1), '(' .. prefix .. '\1'
end

-- Some leases may have expired. They stay until their holds are settled, and are not counted.
if no_expiry_before <= now and in_flight[3] > 0 then
  for scope = 1, 3 do
    in_flight[scope] = redis.call('ZLEXCOUNT', KEYS[2], unexpired(scope))
  end
  local first = redis.call('ZRANGEBYLEX', KEYS[2], '[o', '(o\1', 'LIMIT', '0', '1')[1]
  no_expiry_before = first and unpack_at(EXPIRY, first, 3) or now
end

local slice, left = '', 0
if is_metered then
  local found = redis.call('HMGET', KEYS[6], 'epoch', 'slice', 'left')
  if found[1] == ARGV[2] then
    slice, left = found[2], tonumber(found[3])
  end
end

local function wait_at(scope, metric, excess)
  if metric < 5 then
    return wait_ms(scopes[scope], metric % 2 == 1 and MINUTE or DAY, metric > 2, excess, now, KEYS[2 + scope])
  end
  local from, to = unexpired(scope)
  local nth = redis.call('ZRANGEBYLEX', KEYS[2], from, to, 'LIMIT', excess - 1, '1')[1]
  return unpack_at(EXPIRY, nth, #to) - now
end

-- The longest wait, and the scope and metric that cause it.
local function longest_wait()
  local longest, at_scope, at_metric, at = 0, 0, 0, 0
  for scope = 1, 3 do
    local counters = scopes[scope]
    for metric = 1, 5 do
      at = at + 1
      local limit, need = rules[at], (metric < 3 and 1) or (not runs and 0) or (metric < 5 and tokens) or 1
      local excess = (metric == 5 and in_flight[scope] or counters[metric]) + need - limit
      if excess > 0 and limit > 0 and need > 0 then
        local wait = wait_at(scope, metric, excess)
        if wait > longest then
          longest, at_scope, at_metric = wait, scope, metric
        end
      end
    end
  end
  return longest, at_scope, at_metric
end

-- The usage and the reset of four windows, and the requests in flight.
local function status_of(scope)
  local counters, ring = scopes[scope], KEYS[2 + scope]
  local rpm_ms, tpm_ms = resets_ms(counters, MINUTE, now, ring)
  local rpd_ms, tpd_ms = resets_ms(counters, DAY, now, ring)
  return pack('<ddddddddd', counters[MINUTE + REQUESTS], rpm_ms, counters[DAY + REQUESTS], rpd_ms,
    counters[MINUTE + TOKENS], tpm_ms, counters[DAY + TOKENS], tpd_ms, in_flight[scope])
end

local function reply(verdict, scope, metric, wait)
  local decision = pack('<BBBddd', verdict, scope, metric, wait == math.huge and -1 or wait, left, now)
  return decision .. status_of(1) .. status_of(2) .. status_of(3) .. slice
end

-- Writes the clock, the counters of the nearest scopes, and the hold if there is one.
local function write(count, hold)
  local changes = { 't', pack(CLOCK, now, offset, no_expiry_before) }
  for scope = 1, count do
    changes[scope * 2 + 1], changes[scope * 2 + 2] = fields[scope], encode(scopes[scope])
  end
  if hold then
    changes[#changes + 1] = 'h:' .. id
    changes[#changes + 1] = hold
  end
  redis.call('HSET', KEYS[1], unpack(changes))
  if is_new_hour then
    keep()
  end
  if count > 0 and not (raw[4] and raw[5]) then
    prune(now)
  end
end

local function count(scope, requested_tokens, leases)
  local counters = scopes[scope]
  add(counters, MINUTE, 1, requested_tokens)
  add(counters, DAY, 1, requested_tokens)
  counters[LEASES] = counters[LEASES] + leases
  in_flight[scope] = in_flight[scope] + leases
end

local function spend()
  if micro > 0 then
    left = redis.call('HINCRBY', KEYS[6], 'left', integer(-micro))
  end
end

local demands, counters_of_budgets = {}, {}
local over_budget, used_of_budget = 0, -1

-- Finds the first budget that rejects the request, and what is used of it. A counter that is not open comes first.
local function check_budgets()
  local version
  demands = read_named(ARGV[9])
  version, counters_of_budgets = read_counters(demands)
  for at, demand in ipairs(demands) do
    local counter = counters_of_budgets[demand[1]]
    if not counter or counter[OPENED] < version * PHASES + demand[4] then
      over_budget, used_of_budget = at, -1
      return
    end
    local used = counter[SPENT] + counter[HELD]
    if over_budget == 0 and used + demand[2] > demand[3] then
      over_budget, used_of_budget = at, used
    end
  end
end

local function hold_budgets()
  local held = {}
  for at, demand in ipairs(demands) do
    local counter = counters_of_budgets[demand[1]]
    counter[HELD] = counter[HELD] + demand[2]
    held[at] = pack(NAMED, demand[1], demand[2], counter[GENERATION], 0)
  end
  if #held > 0 then
    write_counters(counters_of_budgets)
    redis.call('HSET', KEYS[1], 'b:' .. id, table.concat(held))
  end
end

local lacks_credits = is_metered and (slice == '' or micro > left)

if runs and takes and raw[3] then
  local held_tokens, _, admitted_at, deadline, lease, held_slice = unpack_at(HOLD, raw[3])
  -- A node may have contributed the request before it was admitted here. A contribution holds no credits.
  local is_contribution = is_metered and held_slice == ''
  local lacks_budgets = ARGV[9] ~= '' and not raw[7]
  if lacks_budgets then
    check_budgets()
  end
  if over_budget > 0 or is_contribution and lacks_credits then
    redis.call('HDEL', KEYS[1], 'h:' .. id, 'b:' .. id)
    settle_budgets(raw[7] or '', true, '')
    if lease > 0 then
      order_lease('ZREM', id, lease, project, key)
    end
    for scope = 1, 3 do
      local counters = scopes[scope]
      counters[LEASES] = max(0, counters[LEASES] - (lease > 0 and 1 or 0))
      in_flight[scope] = in_flight[scope] - (lease > now and 1 or 0)
      take_back(counters, MINUTE, admitted_at, held_tokens, KEYS[2 + scope])
      take_back(counters, DAY, admitted_at, held_tokens, KEYS[2 + scope])
    end
    write(3)
    if over_budget > 0 then
      return reply(OVER_BUDGET, 3, over_budget, used_of_budget)
    end
    return reply(NO_CREDITS, 3, 0, 0)
  end
  hold_budgets()
  if is_contribution then
    spend()
    write(0, pack(HOLD, held_tokens, micro, admitted_at, deadline, lease, slice, project, key))
  else
    slice = held_slice
    write(0)
  end
  return reply(DUPLICATE, 0, 0, 0)
end

local wait, scope, metric = longest_wait()
if wait > 0 then
  local counted = takes and rules[18] or 0
  for at = 1, counted do
    count(at, 0, 0)
  end
  write(counted)
  return reply(REFUSED, scope, metric, (longest_wait()))
end

if runs and ARGV[9] ~= '' then
  check_budgets()
  if over_budget > 0 then
    write(0)
    return reply(OVER_BUDGET, 3, over_budget, used_of_budget)
  end
end

if lacks_credits or not takes then
  write(0)
  return reply(lacks_credits and NO_CREDITS or ADMITTED, lacks_credits and 3 or 0, 0, 0)
end

if not runs then
  for at = 1, 3 do
    count(at, 0, 0)
  end
  write(3)
  return reply(ADMITTED, 0, 0, 0)
end

local expiry = now + rules[16]
no_expiry_before = scopes[3][LEASES] == 0 and expiry or min(no_expiry_before, expiry)
for at = 1, 3 do
  count(at, tokens, 1)
end
if is_metered then
  spend()
end
hold_budgets()
write(3, pack(HOLD, tokens, micro, now, now + rules[17], expiry, slice, project, key))
order_lease('ZADD', id, expiry, project, key)
return reply(ADMITTED, 0, 0, 0)

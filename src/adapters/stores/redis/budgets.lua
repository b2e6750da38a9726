-- Prepended to the scripts that change counters of budgets. The same arithmetic as src/domain/limits/engine/budgets.ts.
-- KEYS[BUDGETS] is a hash: `v` is the version of the counters, `c` the cursor of the removal, every other field a counter. What a
-- request holds of them is in the field `b:ID` of the organization.

-- Generation, spent by the ledger and settled since, held, settled since the count began (-1: no count), token of the count, marker
-- when the count began, marker when the counter was opened (-1: it is not open), expiry
local COUNTER = '<dddddddd'
local GENERATION = 1
local SPENT = 2
local HELD = 3
local SINCE = 4
local TOKEN = 5
local BEGAN = 6
local OPENED = 7
local EXPIRES = 8
local NAMED = '<sddd' -- a counter, and three numbers
local PHASES = 67108864 -- a marker is the version times this, and the phase of the budget

local function read_named(packed)
  local list, at = {}, 1
  while at <= #packed do
    local name, first, second, third
    name, first, second, third, at = unpack_at(NAMED, packed, at)
    list[#list + 1] = { name, first, second, third }
  end
  return list
end

-- The version of the counters, and those of a list.
local function read_counters(list)
  local fields = {}
  for at, named in ipairs(list) do
    fields[at] = named[1]
  end
  local raw = redis.call('HMGET', KEYS[BUDGETS], 'v', unpack(fields))
  local counters = {}
  for at, name in ipairs(fields) do
    counters[name] = raw[at + 1] and { unpack_at(COUNTER, raw[at + 1]) } or nil
  end
  return tonumber(raw[1] or 0), counters
end

local function write_counters(counters)
  local changes = {}
  for name, counter in pairs(counters) do
    changes[#changes + 1] = name
    changes[#changes + 1] = pack(COUNTER, unpack(counter, 1, EXPIRES))
  end
  if #changes > 0 then
    redis.call('HSET', KEYS[BUDGETS], unpack(changes))
    redis.call('PEXPIRE', KEYS[BUDGETS], KEEP_MS)
  end
end

-- Releases the holds of a request and adds what it used. If that is unknown, the counters are closed. So is one in which the request had
-- no hold: the ledger has its charge, and the counter may have been opened before or after that.
local function settle_budgets(held, is_known, used)
  local holds, uses, all = read_named(held), read_named(used), {}
  for _, named in ipairs(holds) do
    all[#all + 1] = named
  end
  for _, named in ipairs(uses) do
    all[#all + 1] = named
  end
  local _, counters = read_counters(all)
  local is_held = {}
  for _, hold in ipairs(holds) do
    local counter = counters[hold[1]]
    if counter and counter[GENERATION] == hold[3] then
      counter[HELD] = counter[HELD] - hold[2]
      is_held[hold[1]] = true
      if not is_known then
        counter[OPENED], counter[SINCE] = -1, -1
      end
    end
  end
  for _, use in ipairs(uses) do
    local counter = counters[use[1]]
    if counter and not is_known then
      counter[OPENED], counter[SINCE] = -1, -1
    elseif counter then
      counter[SPENT] = counter[SPENT] + use[2]
      counter[SINCE] = counter[SINCE] == -1 and -1 or counter[SINCE] + use[2]
      counter[OPENED] = is_held[use[1]] and counter[OPENED] or -1
    end
  end
  write_counters(counters)
end

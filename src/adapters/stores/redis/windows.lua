-- Stands before every other script. The same arithmetic as src/domain/limits, on strings:
-- a tally is its total and its records, oldest first, each the number of a slot and the amount in it.

local RECORD = '<I4I6'
local RECORD_SIZE = 10
local HEADER = '<ddddddI2I2I2' -- clock, offset, four totals, how long the records of the first three tallies are
local STATE_MS = '90000000' -- 25 hours: by then every slot has left
local HOLD_MS = '604800000' -- a week: money is forgotten last
local MAX_STANDSTILL_MS = 60000

local floor, sub = math.floor, string.sub
local pack, unpack_from = struct.pack, struct.unpack

-- Redis would print a large or negative zero number its own way, and then refuse it.
local function integer(number)
  return string.format('%d', number)
end

local function minute(total, records)
  return { total = total, records = records, slot_ms = 1000, slots = 61 }
end

local function day(total, records)
  return { total = total, records = records, slot_ms = 3600000, slots = 25 }
end

-- A scope's state: its tallies in the order rpm, rpd, tpm, tpd. Only the organization's clock counts.
local function decode(raw)
  if not raw then
    return { minute(0, ''), day(0, ''), minute(0, ''), day(0, ''), clock = 0, offset = 0 }
  end
  local clock, offset, rpm, rpd, tpm, tpd, size1, size2, size3, at = unpack_from(HEADER, raw)
  local at2 = at + size1
  local at3 = at2 + size2
  local at4 = at3 + size3
  return {
    minute(rpm, sub(raw, at, at2 - 1)),
    day(rpd, sub(raw, at2, at3 - 1)),
    minute(tpm, sub(raw, at3, at4 - 1)),
    day(tpd, sub(raw, at4)),
    clock = clock,
    offset = offset,
  }
end

local function save(key, state)
  local rpm, rpd, tpm, tpd = state[1], state[2], state[3], state[4]
  local header = pack(HEADER, state.clock, state.offset, rpm.total, rpd.total, tpm.total, tpd.total,
    #rpm.records, #rpd.records, #tpm.records)
  redis.call('SET', key, header .. rpm.records .. rpd.records .. tpm.records .. tpd.records, 'PX', STATE_MS)
end

-- Tests drive the time; everybody else leaves `injected` empty and has the server's.
local function server_time(injected)
  if injected ~= '' then
    return tonumber(injected)
  end
  local time = redis.call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end

-- The organization's clock never goes back.
local function advance_clock(state, injected)
  local now = server_time(injected) + state.offset
  if state.clock - now > MAX_STANDSTILL_MS then
    state.offset = state.offset + state.clock - now
  end
  state.clock = math.max(state.clock, now)
  return state.clock
end

local function slide(tally, now)
  local oldest = floor(now / tally.slot_ms) - tally.slots + 1
  local records, at = tally.records, 1
  while at < #records do
    local slot, amount, next_at = unpack_from(RECORD, records, at)
    if slot >= oldest then
      break
    end
    tally.total = tally.total - amount
    at = next_at
  end
  if at > 1 then
    tally.records = sub(records, at)
  end
end

local function add(tally, now, amount)
  if amount == 0 then
    return
  end
  tally.total = tally.total + amount
  local records, slot = tally.records, floor(now / tally.slot_ms)
  local last = #records - RECORD_SIZE + 1
  if last >= 1 then
    local last_slot, last_amount = unpack_from(RECORD, records, last)
    if last_slot >= slot then
      tally.records = sub(records, 1, last - 1) .. pack(RECORD, last_slot, last_amount + amount)
      return
    end
  end
  tally.records = records .. pack(RECORD, slot, amount)
end

local function take_back(tally, at_ms, amount)
  local records, wanted = tally.records, floor(at_ms / tally.slot_ms)
  for at = #records - RECORD_SIZE + 1, 1, -RECORD_SIZE do
    local slot, present, next_at = unpack_from(RECORD, records, at)
    if slot < wanted then
      return
    end
    if slot == wanted then
      tally.records = sub(records, 1, at - 1) .. pack(RECORD, slot, present - amount) .. sub(records, next_at)
      tally.total = tally.total - amount
      return
    end
  end
end

-- Until `excess` of the oldest amounts have left; math.huge where there is not that much to leave.
local function wait_ms(tally, excess, now)
  local freed = 0
  for at = 1, #tally.records, RECORD_SIZE do
    local slot, amount = unpack_from(RECORD, tally.records, at)
    freed = freed + amount
    if freed >= excess then
      return (slot + tally.slots) * tally.slot_ms - now
    end
  end
  return math.huge
end

-- Until the tally is empty.
local function reset_ms(tally, now)
  if tally.total == 0 then
    return 0
  end
  for at = #tally.records - RECORD_SIZE + 1, 1, -RECORD_SIZE do
    local slot, amount = unpack_from(RECORD, tally.records, at)
    if amount > 0 then
      return (slot + tally.slots) * tally.slot_ms - now
    end
  end
  return 0
end

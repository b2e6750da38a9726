-- Prepended to every other script. The same arithmetic as src/domain/limits/engine, on strings: a window is two totals and
-- its records, oldest first. A record is the number of a slot with the requests and the tokens in it.

local RECORD = '<I4I4I6'
local RECORD_SIZE = 14
local HEADER = '<ddddddI2' -- clock, offset, totals of minute and day, length of the minute's records
local STATE_MS = '90000000' -- 25 hours: after that every slot is outside the window
local HOLD_MS = '604800000' -- a week: holds outlive all counters
local MAX_STANDSTILL_MS = 60000

local floor, sub = math.floor, string.sub
local pack, unpack_at = struct.pack, struct.unpack

-- Lua prints large numbers and negative zero in formats that Redis does not parse.
local function integer(number)
  return string.format('%d', number)
end

local function minute(requests, tokens, records)
  return { requests = requests, tokens = tokens, records = records, slot_ms = 1000, slots = 61 }
end

local function day(requests, tokens, records)
  return { requests = requests, tokens = tokens, records = records, slot_ms = 3600000, slots = 25 }
end

-- The state of a scope. Only the clock of the organization's state is used.
local function decode(raw)
  if not raw then
    return { clock = 0, offset = 0, minute = minute(0, 0, ''), day = day(0, 0, '') }
  end
  local clock, offset, rpm, tpm, rpd, tpd, size, at = unpack_at(HEADER, raw)
  return {
    clock = clock,
    offset = offset,
    minute = minute(rpm, tpm, sub(raw, at, at + size - 1)),
    day = day(rpd, tpd, sub(raw, at + size)),
  }
end

local function save(key, state)
  local in_minute, in_day = state.minute, state.day
  local header = pack(HEADER, state.clock, state.offset,
    in_minute.requests, in_minute.tokens, in_day.requests, in_day.tokens, #in_minute.records)
  redis.call('SET', key, header .. in_minute.records .. in_day.records, 'PX', STATE_MS)
end

-- Tests inject the time; otherwise `injected` is empty and the server's clock is used.
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

-- Advances a window to now and drops older records.
local function slide(window, now)
  local oldest = floor(now / window.slot_ms) - window.slots + 1
  local records, at = window.records, 1
  while at < #records do
    local slot, requests, tokens, next_at = unpack_at(RECORD, records, at)
    if slot >= oldest then
      break
    end
    window.requests = window.requests - requests
    window.tokens = window.tokens - tokens
    at = next_at
  end
  if at > 1 then
    window.records = sub(records, at)
  end
end

local function add(window, now, requests, tokens)
  window.requests = window.requests + requests
  window.tokens = window.tokens + tokens
  local records, slot = window.records, floor(now / window.slot_ms)
  local last = #records - RECORD_SIZE + 1
  if last >= 1 then
    local last_slot, last_requests, last_tokens = unpack_at(RECORD, records, last)
    if last_slot >= slot then
      window.records = sub(records, 1, last - 1) .. pack(RECORD, last_slot, last_requests + requests, last_tokens + tokens)
      return
    end
  end
  window.records = records .. pack(RECORD, slot, requests, tokens)
end

-- Subtracts tokens counted at `at_ms`, unless they have left the window.
local function take_back(window, at_ms, tokens)
  local records, target = window.records, floor(at_ms / window.slot_ms)
  local last = #records - RECORD_SIZE + 1
  if last < 1 then
    return
  end
  -- A slot has at most one record, so that the distance in slots bounds the distance in records from the end.
  local first = math.max(1, last - (unpack_at(RECORD, records, last) - target) * RECORD_SIZE)
  for at = first, last, RECORD_SIZE do
    local slot, requests, present, next_at = unpack_at(RECORD, records, at)
    if slot == target then
      local back = math.min(tokens, present)
      window.records = sub(records, 1, at - 1) .. pack(RECORD, slot, requests, present - back) .. sub(records, next_at)
      window.tokens = window.tokens - back
      return
    end
  end
end

local function leaves_in(window, slot, now)
  return (slot + window.slots) * window.slot_ms - now
end

-- Time until `excess` of the oldest requests or tokens has left the window; math.huge if the window holds less.
local function wait_ms(window, what, excess, now)
  local freed = 0
  for at = 1, #window.records, RECORD_SIZE do
    local slot, requests, tokens = unpack_at(RECORD, window.records, at)
    freed = freed + (what == 'requests' and requests or tokens)
    if freed >= excess then
      return leaves_in(window, slot, now)
    end
  end
  return math.huge
end

-- Time until the window has no requests, and until it has no tokens.
local function resets_ms(window, now)
  local requests_ms, tokens_ms
  for at = #window.records - RECORD_SIZE + 1, 1, -RECORD_SIZE do
    local slot, requests, tokens = unpack_at(RECORD, window.records, at)
    requests_ms = requests_ms or requests > 0 and leaves_in(window, slot, now)
    tokens_ms = tokens_ms or tokens > 0 and leaves_in(window, slot, now)
    if (requests_ms or window.requests == 0) and (tokens_ms or window.tokens == 0) then
      break
    end
  end
  return requests_ms or 0, tokens_ms or 0
end

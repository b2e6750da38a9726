-- Prepended to the scripts that count. The same arithmetic as src/domain/limits/engine. The counters of a scope contain the totals
-- and the newest slot of its two windows. The older slots are in a string, a ring of records for each window. Lua hashes every
-- byte of every string that it creates, so a script reads only the records that it needs, and most requests need none.
-- `at` is the place of a window in the counters, `ring` the key of the string.

local MINUTE = 1
local DAY = 2
local REQUESTS = 0
local TOKENS = 2
local SLOT = 5
local SLOT_REQUESTS = 7
local SLOT_TOKENS = 9

local RECORD = '<I4I4I6' -- slot, requests, tokens. A record of another slot than expected has left the window
local RECORD_SIZE = 14
local RINGS_SIZE = 1204 -- 61 records of the minute, then 25 of the day
local RINGS_MS = '93600000' -- 26 hours: renewed every hour, and after 25 hours every slot has left its window

-- The length of a slot, the number of slots, and the place of the ring.
local function shape(at)
  if at == MINUTE then
    return 1000, 61, 0
  end
  return 3600000, 25, 854
end

local function write_record(ring, at, slot, requests, tokens)
  local _, slots, start = shape(at)
  local place = integer(start + slot % slots * RECORD_SIZE)
  local length = redis.call('SETRANGE', ring, place, pack(RECORD, slot, requests, tokens))
  if length < RINGS_SIZE then
    redis.call('SETRANGE', ring, RINGS_SIZE - 1, '\0') -- a new ring gets its full length
  end
  if length < RINGS_SIZE or at == DAY then
    redis.call('PEXPIRE', ring, RINGS_MS)
  end
end

-- The records at the places of these slots, in order. Empty if there is no ring yet.
local function read_records(ring, at, first, last)
  local _, slots, start = shape(at)
  local from, finish = start + first % slots * RECORD_SIZE, start + (last % slots + 1) * RECORD_SIZE - 1
  if from <= finish then
    return redis.call('GETRANGE', ring, integer(from), integer(finish))
  end
  return redis.call('GETRANGE', ring, from, start + slots * RECORD_SIZE - 1) .. redis.call('GETRANGE', ring, start, finish)
end

-- The requests and tokens of one slot.
local function counts_in(counters, at, slot, ring)
  if slot == counters[at + SLOT] then
    return counters[at + SLOT_REQUESTS], counters[at + SLOT_TOKENS]
  end
  local record = read_records(ring, at, slot, slot)
  if record ~= '' then
    local present, requests, tokens = unpack_at(RECORD, record)
    if present == slot then
      return requests, tokens
    end
  end
  return 0, 0
end

-- Advances a window to a slot. What was counted in slots that have left it is subtracted.
local function slide_to(slot, counters, at, ring)
  local _, slots = shape(at)
  local newest, requests, tokens = counters[at + SLOT], counters[at + REQUESTS], counters[at + TOKENS]
  if slot - newest >= slots then
    requests, tokens = 0, 0
  elseif requests > counters[at + SLOT_REQUESTS] or tokens > counters[at + SLOT_TOKENS] then
    local first = newest - slots + 1
    local records = read_records(ring, at, first, slot - slots)
    for place = 1, #records, RECORD_SIZE do
      local leaving, left_requests, left_tokens = unpack_at(RECORD, records, place)
      if leaving == first then
        requests, tokens = requests - left_requests, tokens - left_tokens
      end
      first = first + 1
    end
  end
  if requests > 0 or tokens > 0 then
    write_record(ring, at, newest, counters[at + SLOT_REQUESTS], counters[at + SLOT_TOKENS])
  end
  counters[at + REQUESTS], counters[at + TOKENS] = requests, tokens
  counters[at + SLOT], counters[at + SLOT_REQUESTS], counters[at + SLOT_TOKENS] = slot, 0, 0
end

-- Advances both windows to now.
local function slide(counters, now, ring)
  local second, hour = floor(now / 1000), floor(now / 3600000)
  if second > counters[MINUTE + SLOT] then
    slide_to(second, counters, MINUTE, ring)
    if hour > counters[DAY + SLOT] then
      slide_to(hour, counters, DAY, ring)
    end
  end
end

-- Adds to the newest slot.
local function add(counters, at, requests, tokens)
  counters[at + REQUESTS] = counters[at + REQUESTS] + requests
  counters[at + TOKENS] = counters[at + TOKENS] + tokens
  counters[at + SLOT_REQUESTS] = counters[at + SLOT_REQUESTS] + requests
  counters[at + SLOT_TOKENS] = counters[at + SLOT_TOKENS] + tokens
end

-- Subtracts tokens counted at `at_ms`, unless they have left the window.
local function take_back(counters, at, at_ms, tokens, ring)
  local slot_ms, slots = shape(at)
  local slot, newest = floor(at_ms / slot_ms), counters[at + SLOT]
  if slot <= newest - slots then
    return
  end
  local requests, present = counts_in(counters, at, slot, ring)
  local back = min(tokens, present)
  counters[at + TOKENS] = counters[at + TOKENS] - back
  if slot == newest then
    counters[at + SLOT_TOKENS] = present - back
  elseif back > 0 then
    write_record(ring, at, slot, requests, present - back)
  end
end

-- Prepended to every script that reads the state of an organization.
-- KEYS 1 organization, 2 leases. All keys of a script have the organization's hash tag.
--
-- The organization is a hash:
--   t              its clock, the clock's offset, and a time before which no lease expires
--   i              its incarnation
--   k:ID p:ID o    the counters of a key, a project, and the organization
--   h:ID           the hold of a request that is not settled
-- The leases are one sorted set without scores, ordered by member: scope, expiry, request id. The slots that a scope has in use
-- are a range of it. The empty member keeps the set, and with it the expiry of the key, while no request runs.

local CLOCK = '<ddd'
-- Requests in the minute and the day, tokens in the minute and the day, and leases, in the order of the limits. Then, each of the
-- minute and the day: the newest slot, the requests in it, the tokens in it.
local COUNTERS = '<ddddI4I4I4I4I4I6I6'
local LEASES = 5 -- index in the counters
local HOLD = '<dddddsss' -- tokens, micro-credits (-1: not metered), admission, deadline, lease (0: none), slice, project, key
local EXPIRY = '>I6' -- the byte order sorts by time
local KEEP_MS = '604800000' -- a week: holds outlive all counters
local MAX_STANDSTILL_MS = 60000

local floor, max, min = math.floor, math.max, math.min
local pack, unpack_at = struct.pack, struct.unpack

-- Lua prints large numbers and negative zero in formats that Redis does not parse, and this is faster.
local function integer(number)
  return string.format('%d', number)
end

-- The organization's clock never goes back. Tests inject the time; otherwise `injected` is empty and the server's clock is used.
-- Returns the time, the offset, the time before which no lease expires, and whether a new hour has begun.
local function advance_clock(raw, injected)
  local clock, offset, no_expiry_before, time = 0, 0, 0, injected
  if raw then
    clock, offset, no_expiry_before = unpack_at(CLOCK, raw)
  end
  if injected == '' then
    local parts = redis.call('TIME')
    time = parts[1] * 1000 + floor(parts[2] / 1000)
  end
  if clock - time - offset > MAX_STANDSTILL_MS then
    offset = clock - time
  end
  local now = max(clock, time + offset)
  return now, offset, no_expiry_before, floor(now / 3600000) ~= floor(clock / 3600000)
end

-- Called when the keys may be new and once an hour, because a call for every request would cost more than it is worth.
local function keep()
  redis.call('ZADD', KEYS[2], '0', '')
  redis.call('PEXPIRE', KEYS[1], KEEP_MS)
  redis.call('PEXPIRE', KEYS[2], KEEP_MS)
end

local function decode(raw)
  return raw and { unpack_at(COUNTERS, raw) } or { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
end

local function encode(counters)
  return pack(COUNTERS, unpack(counters, 1, 11))
end

-- Adds a lease to the ordered set, or removes it.
local function order_lease(command, id, expiry, project, key)
  local tail = '\0' .. pack(EXPIRY, expiry) .. id
  if command == 'ZADD' then
    redis.call('ZADD', KEYS[2], '0', 'k' .. key .. tail, '0', 'p' .. project .. tail, '0', 'o' .. tail)
  else
    redis.call('ZREM', KEYS[2], 'k' .. key .. tail, 'p' .. project .. tail, 'o' .. tail)
  end
end

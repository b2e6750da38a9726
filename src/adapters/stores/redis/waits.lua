-- Prepended to the script that reports waits: when requests and tokens leave a window.

-- Time until `excess` of the oldest requests or tokens has left the window; math.huge if the window holds less.
local function wait_ms(counters, at, is_tokens, excess, now, ring)
  local slot_ms, slots = shape(at)
  local newest, freed = counters[at + SLOT], 0
  local oldest = newest - slots + 1
  local records = read_records(ring, at, oldest, newest - 1)
  for place = 1, #records, RECORD_SIZE do
    local slot, requests, tokens = unpack_at(RECORD, records, place)
    freed = freed + (slot ~= oldest and 0 or is_tokens and tokens or requests)
    if freed >= excess then
      return (slot + slots) * slot_ms - now
    end
    oldest = oldest + 1
  end
  freed = freed + counters[at + (is_tokens and SLOT_TOKENS or SLOT_REQUESTS)]
  return freed >= excess and (newest + slots) * slot_ms - now or math.huge
end

-- Time until the window has no requests, and until it has no tokens. The newest slot has both, as a rule.
local function resets_ms(counters, at, now, ring)
  local slot_ms, slots = shape(at)
  local newest = counters[at + SLOT]
  local newest_ms = (newest + slots) * slot_ms - now
  local requests_ms = counters[at + REQUESTS] == 0 and 0 or counters[at + SLOT_REQUESTS] > 0 and newest_ms
  local tokens_ms = counters[at + TOKENS] == 0 and 0 or counters[at + SLOT_TOKENS] > 0 and newest_ms
  local last, oldest = newest - 1, newest - slots + 1
  while not (requests_ms and tokens_ms) and last >= oldest do
    local records = read_records(ring, at, max(oldest, last - 9), last)
    for place = #records - RECORD_SIZE + 1, 1, -RECORD_SIZE do
      local slot, requests, tokens = unpack_at(RECORD, records, place)
      if slot == last then
        requests_ms = requests_ms or requests > 0 and (slot + slots) * slot_ms - now
        tokens_ms = tokens_ms or tokens > 0 and (slot + slots) * slot_ms - now
      end
      last = last - 1
    end
  end
  return requests_ms, tokens_ms
end

-- The organization's hash does not expire while it is in use. So whenever the counters of a key or a project are added, a few
-- others are sampled, and removed if their windows are empty.
local function prune(now)
  local sample = redis.call('HRANDFIELD', KEYS[1], '8', 'WITHVALUES')
  for at = 1, #sample, 2 do
    local kind = string.sub(sample[at], 1, 2)
    if kind == 'k:' or kind == 'p:' then
      local counters = decode(sample[at + 1])
      if counters[LEASES] == 0 and counters[DAY + SLOT] + 25 <= floor(now / 3600000) then
        redis.call('HDEL', KEYS[1], sample[at])
      end
    end
  end
end

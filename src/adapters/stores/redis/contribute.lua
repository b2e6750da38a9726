-- Adds the usage that a node counted locally, without this server, to the state of an organization, exactly once.
-- KEYS 1 organization's state, 2 incarnation, 3 last contribution of each node, 4 holds, 5 deadlines of holds,
--      then the state of each scope, then for each request in flight the leases of key, project, organization
-- ARGV 1 time in tests, 2 epoch, 3 the incarnation that the node knows (empty: it contributes its whole usage),
--      4 node, 5 number of the contribution, 6 lease ms, 7 hold ms,
--      8 JSON: { scopes = { { minute = records, day = records } }, running = { { id, tokens, at, project, key } } }
local EPOCH, KNOWN, NODE, NUMBER = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local IS_ALL = KNOWN == ''

local organization_raw = redis.call('GET', KEYS[1])
local organization = decode(organization_raw)
local written_until = organization_raw and organization.clock or 0
local now = advance_clock(organization, ARGV[1])

local incarnation = redis.call('GET', KEYS[2]) or ''
if not IS_ALL and incarnation ~= KNOWN then
  return { 'forgotten', '' }
end
-- An incarnation is named after the run of the server, and after the time until which its first state was complete.
local _, _, run, complete_until = string.find(incarnation, '^(%w+):(%d+):')
if run ~= EPOCH then
  complete_until = integer(written_until)
  incarnation = EPOCH .. ':' .. complete_until .. ':' .. NODE .. '.' .. integer(NUMBER)
  redis.call('DEL', KEYS[3])
  redis.call('SET', KEYS[2], incarnation, 'PX', HOLD_MS)
end
complete_until = tonumber(complete_until)
local last = tonumber(redis.call('HGET', KEYS[3], NODE))
if last and last >= NUMBER then
  return { 'counted', incarnation }
end
if last and IS_ALL then
  return { 'known', incarnation }
end
redis.call('HSET', KEYS[3], NODE, integer(NUMBER))
redis.call('PEXPIRE', KEYS[3], HOLD_MS)
save(KEYS[1], organization)

-- Usage that the first state already contains is not added again. For the slot in which that state ends, the larger count
-- is used.
local function merge(window, added)
  slide(window, now)
  local newest = floor(now / window.slot_ms)
  local oldest, cut = newest - window.slots + 1, IS_ALL and floor(complete_until / window.slot_ms) or -1
  local requests_in, tokens_in, slots = {}, {}, {}
  local function at(slot)
    if not requests_in[slot] then
      slots[#slots + 1] = slot
      requests_in[slot], tokens_in[slot] = 0, 0
    end
  end
  for offset = 1, #window.records, RECORD_SIZE do
    local slot, requests, tokens = unpack_at(RECORD, window.records, offset)
    at(slot)
    requests_in[slot], tokens_in[slot] = requests, tokens
  end
  for _, record in ipairs(added) do
    local slot, requests, tokens = math.min(record[1], newest), record[2], record[3]
    if slot >= oldest and slot >= cut then
      at(slot)
      if slot == cut then
        requests_in[slot] = math.max(requests_in[slot], requests)
        tokens_in[slot] = math.max(tokens_in[slot], tokens)
      else
        requests_in[slot] = requests_in[slot] + requests
        tokens_in[slot] = tokens_in[slot] + tokens
      end
    end
  end
  table.sort(slots)
  local records = {}
  window.requests, window.tokens = 0, 0
  for index, slot in ipairs(slots) do
    records[index] = pack(RECORD, slot, requests_in[slot], tokens_in[slot])
    window.requests = window.requests + requests_in[slot]
    window.tokens = window.tokens + tokens_in[slot]
  end
  window.records = table.concat(records)
end

local use = cjson.decode(ARGV[8])
for index, scope in ipairs(use.scopes) do
  local key = KEYS[5 + index]
  local state = decode(redis.call('GET', key))
  merge(state.minute, scope.minute)
  merge(state.day, scope.day)
  save(key, state)
end

for index, request in ipairs(use.running) do
  local id, tokens, admitted_at, project, key = unpack(request)
  if redis.call('HEXISTS', KEYS[4], id) == 0 then
    admitted_at = math.min(admitted_at, now)
    redis.call('HSET', KEYS[4], id, cmsgpack.pack({ tokens, -1, '', admitted_at, project, key }))
    redis.call('ZADD', KEYS[5], integer(admitted_at + ARGV[7]), id)
    for scope = 1, 3 do
      local lease = KEYS[5 + #use.scopes + (index - 1) * 3 + scope]
      redis.call('ZADD', lease, integer(now + ARGV[6]), id)
      redis.call('PEXPIRE', lease, integer(4 * ARGV[6]))
    end
  end
end
if #use.running > 0 then
  redis.call('PEXPIRE', KEYS[4], HOLD_MS)
  redis.call('PEXPIRE', KEYS[5], HOLD_MS)
end
return { 'counted', incarnation }

-- What requests hold of some counters of budgets.
-- KEYS 1 counters. ARGV 1 the counters: name, and numbers that are not read
local BUDGETS = 1
local wanted = read_named(ARGV[1])
local _, counters = read_counters(wanted)
local held = {}
for at, named in ipairs(wanted) do
  local counter = counters[named[1]]
  held[at] = counter and counter[HELD] or 0
end
return held

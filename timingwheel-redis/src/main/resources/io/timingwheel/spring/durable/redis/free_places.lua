-- Gives places back, and starts that were not used.
-- KEYS[4]: sorted set, place -> when its lease ends; KEYS[5]: hash, name -> next start in microseconds
-- ARGV: offset, name, microseconds of the starts that were not used, places...
-- Returns: 1
local PLACES, LIMITS = KEYS[4], KEYS[5]
-- A full Redis refuses a script only if its first write needs memory.
for i = 4, #ARGV, 1000 do
  call('ZREM', PLACES, unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
local next_start = tonumber(call('HGET', LIMITS, ARGV[2]) or 0)
if tonumber(ARGV[3]) > 0 and next_start > 0 then
  call('HSET', LIMITS, ARGV[2], string.format('%.0f', next_start - ARGV[3]))
end
return 1

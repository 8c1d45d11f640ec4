-- needs: model, clock, next_start
-- Gives places back, and starts that were not used.
-- KEYS[4]: sorted set, place -> when its lease ends; KEYS[5]: hash, name -> next start in microseconds, and given_back
-- ARGV: offset, name, microseconds of the starts that were not used, next start and given_back when they were taken,
-- places...
-- Returns: 1
local PLACES, LIMITS = KEYS[4], KEYS[5]
-- A full Redis refuses a script only if its first write needs memory.
for i = 6, #ARGV, 1000 do
  call('ZREM', PLACES, unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
local unused = tonumber(ARGV[3])
if unused > 0 then
  local next_start, given_back = next_start_of(LIMITS, ARGV[2])
  -- Time has passed since the starts were taken, and with the time they no longer hold up others. Only the rest is given
  -- back. Otherwise the rate would allow the starts of this time twice. If another claim has given back starts that it took
  -- later, starts of this claim may be lost. So there may be fewer starts than the rate allows, but not more.
  local rest = ARGV[4] - (given_back - ARGV[5]) - now * 1000
  local back = math.max(0, math.min(unused, rest, next_start))
  if back > 0 then
    call('HSET', LIMITS, ARGV[2], string.format('%.0f', next_start - back), given_back_field(ARGV[2]),
        string.format('%.0f', given_back + back))
  end
end
return 1

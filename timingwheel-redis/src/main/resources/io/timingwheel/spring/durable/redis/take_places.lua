-- needs: model, clock, limited, next_start
-- Takes places of a name, and starts from its rate. A place whose lease has ended is free.
-- KEYS[4]: sorted set, place -> when its lease ends; KEYS[5]: hash, name -> next start in microseconds, and given_back
-- ARGV: offset, name, how many may run at once (0: any number), microseconds between two starts (0: no rate), burst,
-- how many places to leave free, lease, then the places
-- Returns: now, how many of the places were taken (the first ones), when their leases end, how many were free, how many
-- starts the rate allowed, the next start, given_back
local PLACES, LIMITS = KEYS[4], KEYS[5]
local concurrent, interval = tonumber(ARGV[3]), tonumber(ARGV[4])
local wanted, first = #ARGV - 7, 8
-- A full Redis refuses a script only if its first write needs memory.
call('ZREMRANGEBYSCORE', PLACES, '-inf', now)
local free = concurrent > 0 and concurrent - call('ZCARD', PLACES) or 1e9
local stored, given_back = next_start_of(LIMITS, ARGV[2])
-- With these limits the next start is at most a burst away. A stored value that is later comes from other limits, or
-- from a clock that was set back.
local next_start = interval > 0 and math.min(stored, now * 1000 + ARGV[5] * interval) or stored
local starts = interval > 0
    and math.max(0, math.floor((ARGV[5] * interval - math.max(0, next_start - now * 1000)) / interval)) or 1e9
local taken = math.max(0, math.min(wanted, free - ARGV[6], starts))
local ends = limited(now + ARGV[7])
if concurrent > 0 then
  local members = {}
  for i = first, first + taken - 1 do
    members[#members + 1] = ends
    members[#members + 1] = ARGV[i]
  end
  for i = 1, #members, 1000 do
    call('ZADD', PLACES, unpack(members, i, math.min(i + 999, #members)))
  end
end
call('HSETNX', LIMITS, ARGV[2], 0) -- delete_all finds the names here
if interval > 0 and taken > 0 then
  next_start = math.max(next_start, now * 1000) + taken * interval
end
if next_start ~= stored then
  call('HSET', LIMITS, ARGV[2], string.format('%.0f', next_start))
end
return { now, taken, ends, free, starts, next_start, given_back }

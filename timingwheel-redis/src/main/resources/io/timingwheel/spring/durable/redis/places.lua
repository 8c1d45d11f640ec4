-- The places of a name and the starts of its rate, for the tasks that run at once on all nodes. A place has a lease, and
-- is free when its lease has ended.
-- KEYS: those of the partition; PLACES, sorted set: place -> the end of its lease; RATES, hash: name -> when the next
-- start would be due if all starts were spread evenly, in microseconds
-- ARGV: clock, 'take', 'keep' or 'free', name, then
--   take: how many may run at once (0: any number), microseconds between two starts (0: no rate), burst, how many places
--         to leave free, lease, how many to take, what their ids begin with, the number of the first one
--   keep: lease, places...
--   free: microseconds of the starts that were not used, the next start when they were taken, places...
-- Returns for take: how many were taken, how many further starts the rate allows, the next start; for keep: 1 for each place, or 0 if its lease had ended
local PLACES, RATES = KEYS[6], KEYS[7]
local event, name, reply = ARGV[2], ARGV[3], {}
local stored = tonumber(call('HGET', RATES, name) or 0)
-- A full Redis refuses a script only if its first write needs memory.
call('ZREMRANGEBYSCORE', PLACES, '-inf', now)

local function store_next_start(next_start)
  if next_start ~= stored then
    call('HSET', RATES, name, string.format('%.0f', next_start))
  end
end

if event == 'take' then
  local concurrent, interval, burst = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
  local free = concurrent > 0 and concurrent - call('ZCARD', PLACES) or 1e9
  local next_start, starts = stored, 1e9
  if interval > 0 then
    -- A value that is later than a burst comes from other limits, or from a clock that was set back.
    next_start = math.min(stored, now * 1000 + burst * interval)
    starts = math.floor((burst * interval - math.max(0, next_start - now * 1000)) / interval)
  end
  local taken = math.max(0, math.min(tonumber(ARGV[9]), free - ARGV[7], starts))
  local ends = at_most(now + ARGV[8])
  for i = 1, concurrent > 0 and taken or 0 do
    append(added, ends, ARGV[10] .. (ARGV[11] + i - 1))
  end
  write('ZADD', PLACES, added)
  if interval > 0 and taken > 0 then
    next_start = math.max(next_start, now * 1000) + taken * interval
  end
  store_next_start(next_start)
  return { taken, starts - taken, next_start }
elseif event == 'keep' then
  for i = 5, #ARGV do
    reply[i - 4] = call('ZSCORE', PLACES, ARGV[i]) and 1 or 0
    if reply[i - 4] == 1 then
      call('ZADD', PLACES, at_most(now + ARGV[4]), ARGV[i])
    end
  end
else
  write('ZREM', PLACES, { unpack(ARGV, 6) })
  -- With the time that has passed, starts that were taken hold up others no longer. Only the rest is given back, so that
  -- the rate does not allow the starts of this time twice.
  store_next_start(stored - math.max(0, math.min(tonumber(ARGV[4]), ARGV[5] - now * 1000, stored)))
end
return reply

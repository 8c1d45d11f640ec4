-- needs: model, clock, limited
-- Makes the leases of places last from now.
-- KEYS[4]: sorted set, place -> when its lease ends
-- ARGV: offset, lease, places...
-- Returns: when the leases end, then for each place: 1, or 0 if its lease had ended
local PLACES = KEYS[4]
local ends = limited(now + ARGV[2])
local reply = { ends }
-- A full Redis refuses a script only if its first write needs memory.
call('ZREMRANGEBYSCORE', PLACES, '-inf', now)
for i = 3, #ARGV do
  local kept = call('ZSCORE', PLACES, ARGV[i])
  if kept then
    call('ZADD', PLACES, ends, ARGV[i])
  end
  reply[#reply + 1] = kept and 1 or 0
end
return reply

-- needs: clock
-- Reads the clock of Redis.
-- ARGV: offset
-- Returns: the time
return now

-- needs: additions
-- Writes all changes. A full Redis refuses a script only if its first write needs memory.
-- The deletions therefore come first, so that the work on stored tasks goes on when Redis
-- is full.
local function save()
  write_deletions()
  write_additions()
end

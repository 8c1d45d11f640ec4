-- needs: model, entries, load_entries, stored_task
-- Reads those dead tasks of a name that died last.
-- ARGV: offset, name, limit
-- Returns: tasks...
local reply = {}
for i, task in ipairs(load_entries(entries(ARGV[2], DEAD, ARGV[3], true), math.huge)) do
  reply[i] = stored_task(task)
end
return reply

-- Reads the task that has an id, in any state, or that a name and key mean.
-- ARGV: clock, 'id' or the kind, the id or the name, the key
-- Returns: the task, or nothing
local task = target(ARGV[2], ARGV[3], ARGV[4])
return task and stored_task(task) or false

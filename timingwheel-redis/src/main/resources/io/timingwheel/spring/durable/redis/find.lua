-- needs: find_pending, find_recurring, find, stored_task
-- Reads a task by its id, or the pending or recurring task by its name and key.
-- ARGV: offset, 'id', 'once', 'schedule' or 'key', the id or the field of HOLDERS
-- Returns: the task, or nothing
local task
if ARGV[2] == 'id' then
  task = find(ARGV[3])
else
  task = find_pending(ARGV[2], ARGV[3]) or find_recurring(ARGV[2], ARGV[3])
end
return task and stored_task(task)

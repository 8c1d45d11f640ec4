-- needs: find_pending, find_recurring, find, stored_task
-- Reads a task by its id, or the pending or recurring task by its name and key.
-- ARGV: offset, 'id' or 'key', the id or the field of HOLDERS
-- Returns: the task, or nothing
local task = ARGV[2] == 'key' and (find_pending('key', ARGV[3]) or find_recurring('key', ARGV[3]))
  or ARGV[2] == 'id' and find(ARGV[3])
return task and stored_task(task)

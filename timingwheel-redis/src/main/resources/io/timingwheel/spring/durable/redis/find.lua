-- ARGV: offset, 'id' or 'key', the id or the name and key
-- Returns: the task, or nothing
local task = ARGV[2] == 'key' and find_pending('key', ARGV[3]) or ARGV[2] == 'id' and find(ARGV[3])
return task and shown(task)

-- ARGV: clock, 'id' or the kind, the id or the name, the key, due time or delay, '1' if a due time
-- Returns: id, name, due, now; nothing if the task was not pending
local task = target(ARGV[2], ARGV[3], ARGV[4])
if not task or not is_pending(task) then
  return false
end
local due = due_time(ARGV[5], ARGV[6])
if due > now or task.due > now then -- otherwise the task keeps its position among those that wait
  task.due = due
end
raise_fence(task)
put(task, SCHEDULED, task.due)
save()
return { task.id, task.name, task.due, now }

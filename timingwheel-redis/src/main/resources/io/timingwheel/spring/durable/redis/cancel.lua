-- A running schedule loses its schedule. A declared schedule leaves a mark.
-- ARGV: clock, 'id' or the kind, the id or the name, the key
-- Returns: 1 if there was a task
local task = target(ARGV[2], ARGV[3], ARGV[4])
if not task or not is_pending(task) and not task.schedule then
  return 0
end
local declared = task.schedule and task.key == DECLARED_KEY
if is_pending(task) then
  delete(task)
else
  free_holder(task)
  task.schedule = false
  store_head(task)
end
if declared then
  holders[field(task.name, SCHEDULE, task.key)] = CANCELLED
end
save()
return 1

-- needs: model, find_pending, find_recurring, delete, set, store_whole, change, save
-- scheduled or leased -> deleted; running with a schedule -> running without one; a declared schedule leaves a mark
-- ARGV: offset, 'id', 'once', 'schedule' or 'key', the id or the field of HOLDERS
-- Returns: 1 if the task was pending, or had a schedule

-- Ends the schedule of a running task. The task goes on to its end, and is not tried again.
local function end_schedule(task)
  holders[schedule_field(holder_field(task))] = false
  set(task, RECURRING, false)
  set(task, ENDED, true)
  task.schedule = nil
  store_whole(task)
  if task.has_head then
    store_head(task)
  end
end

local task = find_pending(ARGV[2], ARGV[3]) or find_recurring(ARGV[2], ARGV[3])
if not task then
  return 0
end
local recurring = has(task, RECURRING)
if is_pending(task) then
  delete(task)
else
  end_schedule(task)
end
if recurring and task.key == DECLARED_KEY then
  holders[schedule_field(holder_field(task))] = CANCELLED
end
save()
return 1

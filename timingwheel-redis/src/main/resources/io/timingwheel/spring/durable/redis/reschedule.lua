-- needs: model, clock, due_time, placed, find_pending, find_recurring, raise_fence, change, store_whole, leased_task,
-- needs: save
-- scheduled or leased -> scheduled, or leased if due within the look-ahead and no suspect
-- ARGV: offset, 'id', 'once', 'schedule' or 'key', the id or the field of HOLDERS, due time or delay, '1' if a due
-- time, look-ahead (negative: do not lease), lease
-- Returns: now, 1 if leased by the caller, the task; or nothing if the task was not pending
local task = find_pending(ARGV[2], ARGV[3]) or find_recurring(ARGV[2], ARGV[3])
if not task or not is_pending(task) then
  return false
end
local due = due_time(ARGV[4], ARGV[5])
if due <= now and task.due <= now then
  due = task.due -- the task keeps its position among the tasks that wait
end
local state, at = placed(due, has(task, SUSPECT) and -1 or ARGV[6], ARGV[7])
raise_fence(task)
take_out(task)
task.state, task.at, task.due = state, at, due
append_members(task, added)
if task.has_head then
  store_head(task)
else
  store_whole(task)
end
save()
return { now, state == LEASED and 1 or 0, leased_task(task, at, math.huge) }

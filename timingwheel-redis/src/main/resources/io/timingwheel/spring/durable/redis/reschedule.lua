-- scheduled or leased -> scheduled, or leased if due within the look-ahead and no suspect
-- ARGV: offset, 'id' or 'key', the id or the field of HOLDERS, due time or delay, '1' if a due time, look-ahead
-- (negative: do not lease), lease
-- Returns: now, 1 if leased by the caller, the task; or nothing if the task was not pending
local task = find_pending(ARGV[2], ARGV[3]) or find_recurring(ARGV[2], ARGV[3])
if not task or not is_pending(task) then
  return false
end
local due = due_time(ARGV[4], ARGV[5])
local state, at = placed(due, has(task, SUSPECT) and -1 or ARGV[6], ARGV[7])
raise_fence(task)
change(task, { state = state, at = at, due = due, is_whole = not task.has_head })
save()
return { now, state == LEASED and 1 or 0, leased_task(task, at, math.huge) }

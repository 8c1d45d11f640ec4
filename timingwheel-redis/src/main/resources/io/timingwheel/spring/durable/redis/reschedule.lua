-- ARGV: offset, 'id' or 'key', the id or the name and key, millis, '1' if absolute, look-ahead, lease
-- Returns: nothing if it was not pending, or now, 1 if leased, the task
local task = find_pending(ARGV[2], ARGV[3])
if not task then
  return false
end
local due = due_time(ARGV[4], ARGV[5])
local state, at = placed(due, ARGV[6], ARGV[7])
raise_fence(task)
change(task, { state = state, at = at, due = due })
save()
return { now, state == LEASED and 1 or 0, run_reply(task, at, math.huge) }

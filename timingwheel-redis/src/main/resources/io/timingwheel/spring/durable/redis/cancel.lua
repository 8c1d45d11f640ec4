-- scheduled or leased -> deleted; running with a schedule -> running without one
-- ARGV: offset, 'id' or 'key', the id or the field of HOLDERS
-- Returns: 1 if the task was pending, or had a schedule
local task = find_pending(ARGV[2], ARGV[3]) or find_recurring(ARGV[2], ARGV[3])
if not task then
  return 0
end
if is_pending(task) then
  delete(task)
else
  end_schedule(task)
end
save()
return 1

-- scheduled or leased -> deleted
-- ARGV: offset, 'id' or 'key', the id or the field of HOLDERS
-- Returns: 1 if the task was pending
local task = find_pending(ARGV[2], ARGV[3])
if not task then
  return 0
end
delete(task)
save()
return 1

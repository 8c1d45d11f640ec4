-- ARGV: offset, 'id' or 'key', the id or the name and key
-- Returns: 1 if it was pending
local task = find_pending(ARGV[2], ARGV[3])
if not task then
  return 0
end
delete(task)
save()
return 1

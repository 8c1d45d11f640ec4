-- dead -> deleted
-- ARGV: offset, 'id' or 'name', the id or the name, limit (only with a name)
-- Returns: the number of dead tasks that were deleted
local tasks
if ARGV[2] == 'name' then
  tasks = load_entries(entries(ARGV[3], DEAD, ARGV[4]), math.huge)
else
  tasks = { find(ARGV[3]) }
end
local count = 0
for _, task in ipairs(tasks) do
  if task.state == DEAD then
    delete(task)
    count = count + 1
  end
end
save()
return count

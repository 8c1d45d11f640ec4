-- dead -> deleted
-- ARGV: offset, ids...
-- Returns: the number of tasks that were dead
local ids, found = {}, 0
for i = 2, #ARGV do
  ids[#ids + 1] = ARGV[i]
end
load(ids)
for _, id in ipairs(ids) do
  local task = read[id]
  if task and task.state == DEAD then
    delete(task)
    found = found + 1
  end
end
save()
return { found }

-- needs: model, load_arguments, delete
-- dead -> deleted
-- ARGV: offset, ids...
-- Returns: the number of tasks that were dead
local found = 0
for _, id in ipairs(load_arguments(2, 1)) do
  local task = read[id]
  if task and task.state == DEAD then
    delete(task)
    found = found + 1
  end
end
write_deletions()
return { found }

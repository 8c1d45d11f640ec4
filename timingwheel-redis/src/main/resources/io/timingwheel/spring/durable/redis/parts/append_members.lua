-- needs: model, has, member
-- Appends the members of a task to a list. Suspects have capital letters. Claims thus read suspects apart from other
-- tasks.
local function append_members(task, list)
  local suspect = has(task, SUSPECT)
  if task.state == LEASED then
    list[#list + 1] = member(task.name, suspect and string.upper(WAITING) or WAITING, task.due, task.id)
  end
  list[#list + 1] = member(task.name, suspect and task.state ~= DEAD and string.upper(task.state) or task.state,
      task.at, task.id)
end

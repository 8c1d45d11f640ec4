-- needs: model, has
-- A member of INDEX: section, time in eight bytes, id. Within a section the members are
-- therefore ordered by time.
local function member(letter, at, task)
  return packed_as('>Bc0c1I8', #task.name, task.name, letter, at) .. task.id
end

-- Appends the members of a task to a list. Suspects have capital letters. Claims thus read suspects apart from other
-- tasks.
local function append_members(task, list)
  local suspect = has(task, SUSPECT)
  if task.state == LEASED then
    list[#list + 1] = member(suspect and string.upper(WAITING) or WAITING, task.due, task)
  end
  list[#list + 1] = member(suspect and task.state ~= DEAD and string.upper(task.state) or task.state, task.at, task)
end

-- needs: holder, find, has, schedule_field
-- The task with a schedule that has an id ('id') or a name and key ('key').
local function find_recurring(by, value)
  local id = by == 'id' and value or holder(schedule_field(value))
  local task = id and find(id)
  return task and has(task, RECURRING) and task or nil
end

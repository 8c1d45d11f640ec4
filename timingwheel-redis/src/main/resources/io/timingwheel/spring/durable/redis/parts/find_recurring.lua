-- needs: holder, find, has, schedule_field
-- The task with a schedule that has an id ('id') or a name and key ('schedule', or 'key' for either a task that runs
-- once or a schedule).
local function find_recurring(by, value)
  local id = by == 'id' and value or by ~= 'once' and holder(schedule_field(value))
  local task = id and find(id)
  return task and has(task, RECURRING) and task or nil
end

-- needs: holder, find, is_pending
-- The pending task with an id ('id') or with a name and key ('once', or 'key' for either a task that runs once or a
-- schedule).
local function find_pending(by, value)
  local id = by ~= 'schedule' and value
  if by == 'once' or by == 'key' then
    id = holder(value)
  end
  local task = id and find(id)
  return task and is_pending(task) and task or nil
end

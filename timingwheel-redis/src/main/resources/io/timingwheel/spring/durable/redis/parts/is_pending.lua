-- needs: model
local function is_pending(task)
  return task.state == SCHEDULED or task.state == LEASED
end

-- needs: model, set
local function set_error(task, error)
  task.error = sub(error, 1, 60000) -- LAYOUT has two bytes for the length
  set(task, FAILED, error ~= '')
end

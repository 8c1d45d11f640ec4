-- needs: model
local function payload(task)
  return sub(task.packed, task.tail)
end

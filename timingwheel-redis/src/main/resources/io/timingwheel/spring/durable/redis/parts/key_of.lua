-- needs: model, has
-- The key as callers see it.
local function key_of(task)
  return (has(task, KEYED) or has(task, RECURRING) or has(task, ENDED)) and task.key or false
end

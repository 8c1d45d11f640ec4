-- needs: model
-- The field of HOLDERS for the key of a task: length of the name in one byte, name, key.
local function holder_field(task)
  return string.char(#task.name) .. task.name .. task.key
end

-- needs: writes
-- The id of the task that has a field, or false.
local function holder(field)
  local id = holders[field]
  if id == nil then
    id = call('HGET', HOLDERS, field)
  end
  return id
end

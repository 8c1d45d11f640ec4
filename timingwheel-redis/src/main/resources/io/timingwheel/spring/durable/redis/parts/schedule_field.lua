-- needs: model
-- The field of HOLDERS for the schedule with the same name and key as a field for a key. No key begins with this byte.
local function schedule_field(field)
  local name = sub(field, 1, 1 + string.byte(field))
  return name .. '\255' .. sub(field, #name + 1)
end

-- needs: load
-- The task with an id, also if this script has inserted it.
local function find(id)
  if not read[id] then
    load({ id })
  end
  return read[id]
end

-- needs: writes, has, holder_field, is_pending
local function give_up_key(task)
  if has(task, KEYED) and is_pending(task) then
    holders[holder_field(task)] = false
  end
end

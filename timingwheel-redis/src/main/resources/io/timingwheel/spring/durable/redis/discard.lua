-- ARGV: clock, age, limit to delete the tasks that have been dead for longer; or clock, nothing, nothing, ids...
-- Returns: how many tasks were deleted
if ARGV[2] ~= '' then
  local before, left = now - ARGV[2], tonumber(ARGV[3])
  for_each_name(function(name)
    local old = entries(name, DEAD, left)
    while #old > 0 and old[#old].at >= before do
      old[#old] = nil
    end
    delete_dead(old)
    left = left - #old
    return left > 0
  end)
else
  for _, id in ipairs(load_arguments(4, 1)) do
    if tasks[id] and tasks[id].state == DEAD then
      delete(tasks[id])
    end
  end
end
local deleted = #gone
save()
return { deleted }

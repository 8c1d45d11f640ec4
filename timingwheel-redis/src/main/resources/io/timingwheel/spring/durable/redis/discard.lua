-- ARGV: clock, age, limit to delete the tasks that have been dead for longer; or clock, nothing, nothing, ids...
-- Returns: how many tasks were deleted
if ARGV[2] ~= '' then
  local limit = tonumber(ARGV[3])
  for_each_name(function(name)
    local old = count(name, DEAD, math.max(0, now - ARGV[2]) - 1)
    delete_dead(entries(name, DEAD, math.min(old, limit - #gone)))
    return #gone < limit
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

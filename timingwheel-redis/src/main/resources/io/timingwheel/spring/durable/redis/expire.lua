-- needs: model, clock, all_names, entries, delete_dead
-- dead for longer than a time -> deleted
-- ARGV: offset, age, limit
-- Returns: the number of tasks that were deleted
local before, left = now - ARGV[2], tonumber(ARGV[3])
for_each_name(function(name)
  local old = {}
  for _, one in ipairs(entries(name, DEAD, left)) do
    if one.at < before then
      old[#old + 1] = one
    end
  end
  delete_dead(old)
  left = left - #old
  return left > 0
end)
write_deletions()
return { ARGV[3] - left }

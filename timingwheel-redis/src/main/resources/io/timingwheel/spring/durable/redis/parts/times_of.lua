-- The times of entries that a claim could give too, each followed by the number of its name.
local function times_of(list)
  local times = {}
  for _, one in ipairs(list) do
    times[#times + 1] = one.at
    times[#times + 1] = one.number or 0
  end
  return times
end

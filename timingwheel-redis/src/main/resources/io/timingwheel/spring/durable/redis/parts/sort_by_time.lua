-- Puts entries in the order of a claim. Entries of one section have this order already, and most lists are of one
-- section, so this function looks before it sorts.
local function sort_by_time(list)
  for i = 2, #list do
    if list[i].at < list[i - 1].at then
      table.sort(list, function(one, other) return one.at < other.at end)
      return
    end
  end
end

-- needs: load, writes
-- The tasks of the first entries of a list. An entry without a task is removed from INDEX.
local function load_entries(list, limit)
  local ids, tasks = {}, {}
  for i = 1, math.min(limit, #list) do
    ids[i] = list[i].id
  end
  load(ids)
  for i, id in ipairs(ids) do
    if read[id] then
      tasks[#tasks + 1] = read[id]
    else
      removed[#removed + 1] = list[i].member
    end
  end
  return tasks
end

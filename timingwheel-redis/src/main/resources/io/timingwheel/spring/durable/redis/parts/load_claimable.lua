-- needs: load_entries, writes, append_members
-- The tasks of the first entries of a list, without those whose entry has another time or letter than the task. Nodes
-- of older releases, which do not know suspects, may have left such an entry. This function replaces the entry, and the
-- next claim finds the task.
local function load_claimable(list, limit, suspect)
  local claimable = {}
  load_entries(list, limit)
  for i = 1, math.min(limit, #list) do
    local one = list[i]
    local task = read[one.id]
    if task and task.at == one.at and has(task, SUSPECT) == suspect then
      claimable[#claimable + 1] = task
    elseif task then
      removed[#removed + 1] = one.member
      append_members(task, added)
    end
  end
  return claimable
end

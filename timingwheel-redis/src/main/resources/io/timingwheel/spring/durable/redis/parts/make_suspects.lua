-- needs: load_claimable, raise_fence, change, set
-- Makes suspects of running tasks whose leases have ended, by their entries. Returns the earliest of their times,
-- math.huge if there are none.
local function make_suspects(list)
  local earliest = math.huge
  for _, task in ipairs(load_claimable(list, #list, false)) do
    earliest = math.min(earliest, task.at)
    raise_fence(task)
    take_out(task)
    task.lost = task.lost + (has(task, ALONE) and 1 or 0)
    set(task, SUSPECT, true)
    set(task, ALONE, false)
    put_in(task, task.state, task.at)
  end
  return earliest
end

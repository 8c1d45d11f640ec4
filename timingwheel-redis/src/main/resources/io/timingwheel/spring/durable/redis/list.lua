-- Reads the pending or the dead tasks of a name.
-- ARGV: clock, name, 'PENDING' or 'DEAD_LATEST_FIRST', limit, then optionally: time and id of the task to go on after
-- Returns: for the dead the page, for the pending a page of those that are no suspects and one of the suspects, each
-- without leased tasks, and all leased tasks
local name, order, limit = ARGV[2], ARGV[3], tonumber(ARGV[4])
local bound = ARGV[5] and index_time(tonumber(ARGV[5])) .. ARGV[6]

local function page(found)
  for i, task in ipairs(found) do
    found[i] = stored_task(task)
  end
  return found
end

if order ~= 'PENDING' then
  return { page(tasks_of(entries(name, DEAD, limit, bound, true))) }
end
return { page(tasks_of(entries(name, SCHEDULED, limit, bound))),
  page(tasks_of(entries(name, SUSPECT[SCHEDULED], limit, bound))), page(leased_tasks(name)) }

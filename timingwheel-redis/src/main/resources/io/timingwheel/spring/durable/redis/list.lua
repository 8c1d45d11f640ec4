-- Reads the pending or the dead tasks of a name.
-- ARGV: clock, name, 'PENDING' or 'DEAD_LATEST_FIRST', limit, then optionally: time and id of the
-- task to go on after
-- Returns: for the dead the page, for the pending a page of those that are no suspects and one of the suspects, each
-- without leased tasks, and all leased tasks
local name, order, limit = ARGV[2], ARGV[3], tonumber(ARGV[4])
local bound = ARGV[5] and index_time(tonumber(ARGV[5])) .. ARGV[6]

local function page(letter)
  local page = tasks_in(name, letter, limit, bound, order == 'DEAD_LATEST_FIRST')
  for i, task in ipairs(page) do
    page[i] = stored_task(task)
  end
  return page
end

if order ~= 'PENDING' then
  return { page(DEAD) }
end
local leased = {}
for_each_leased(name, function(task)
  append(leased, stored_task(task))
end)
return { page(SCHEDULED), page(SUSPECT[SCHEDULED]), leased }

-- Reads the pending or the dead tasks of a name.
-- ARGV: clock, name, 'pending', 'oldest' or 'latest' (for the dead), limit, then optionally: time and id of the task to
-- go on after
-- Returns: for the dead the page, for the pending a page of those that are no suspects and one of the suspects, each
-- without leased tasks, and all leased tasks
local name, order, limit = ARGV[2], ARGV[3], tonumber(ARGV[4])
local after = tonumber(ARGV[5])
local bound = after and time_in_index(after) .. ARGV[6]

local function page(letter)
  local ids, page = {}, {}
  for i, one in ipairs(entries(name, letter, limit, bound, order == 'latest')) do
    ids[i] = one.id
  end
  load(ids)
  for _, id in ipairs(ids) do
    page[#page + 1] = tasks[id] and stored_task(tasks[id])
  end
  return page
end

if order ~= 'pending' then
  return { page(DEAD) }
end
local leased = leased_tasks(name)
for i, task in ipairs(leased) do
  leased[i] = stored_task(task)
end
return { page(SCHEDULED), page(SUSPECT[SCHEDULED]), leased }

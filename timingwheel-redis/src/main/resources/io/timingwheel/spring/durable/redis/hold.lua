-- ARGV: clock, 'begin' or 'renew', lease, then for each task: id, fence
-- Returns: 0; the replies...
local event, ends = ARGV[2], at_most(now + ARGV[3])

local function hold(task)
  if task.at <= now and task.lost > 0 and task.state == LEASED then
    return REFUSED -- it counts for no limit any longer
  elseif task.state == LEASED and event == 'begin' then
    give_up_key(task)
    task.deliveries, task.first = task.deliveries + 1, nil
    put(task, RUNNING, ends)
  elseif task.state ~= RUNNING then
    return REFUSED
  elseif event == 'renew' then
    put(task, RUNNING, ends)
  end
  return DONE
end

load_arguments(4, 2)
local replies = { 0 }
for i = 4, #ARGV, 2 do
  local task = tasks[ARGV[i]]
  append(replies, task and task.fence == tonumber(ARGV[i + 1]) and hold(task) or REFUSED)
end
save()
return replies

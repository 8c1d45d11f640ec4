-- leased: begin -> running, without its key
-- running: begin -> the same, since the call was repeated; renew -> running, with a lease from now
-- ARGV: clock, 'begin' or 'renew', lease, then for each task: id, fence
-- Returns: the replies; for each task with a place: its number, name, place; 0
local event, ends = ARGV[2], at_most(now + ARGV[3])

local function hold(task)
  if task.at <= now and (task.place or task.lost > 0 and task.state == LEASED) then
    return REFUSED -- its place has ended as well, or another task with its key may have begun
  elseif task.state == LEASED and event == 'begin' then
    give_up_key(task)
    task.deliveries = task.deliveries + 1
    put(task, RUNNING, ends)
  elseif task.state ~= RUNNING then
    return REFUSED
  elseif event == 'renew' then
    put(task, RUNNING, ends)
  end
  return DONE
end

load_arguments(4, 2)
local replies, places = {}, {}
for i = 4, #ARGV, 2 do
  local task = tasks[ARGV[i]]
  append(replies, task and task.fence == tonumber(ARGV[i + 1]) and hold(task) or REFUSED)
  if replies[#replies] == DONE and task.place then
    append(places, #replies, task.name, task.place)
  end
end
save()
return { replies, places, 0 }

-- ARGV: clock, ids...
-- Returns, for each task: the result
local REQUEUED, NOT_DEAD, KEY_PENDING = 0, 1, 2

local function requeue(task)
  if not task or task.state ~= DEAD then
    return NOT_DEAD
  elseif task.key and holder(task.name, ONCE, task.key) then
    return KEY_PENDING
  end
  raise_fence(task)
  task.attempt, task.deliveries, task.lost, task.error, task.first = 1, 0, 0, nil, nil
  schedule_again(task, now)
  return REQUEUED
end

local reply = {}
for i, id in ipairs(load_arguments(2, 1)) do
  reply[i] = requeue(tasks[id])
end
save()
return reply

-- needs: model, clock, load_arguments, holder, raise_fence, set_error, schedule_again, save
-- dead -> scheduled, due now; a dead task stays as it is while a pending task has the key
-- ARGV: offset, ids...
-- Returns, for each task: the outcome
local REQUEUED, NOT_DEAD, KEY_PENDING = 0, 1, 2

local function requeue(task)
  if not task or task.state ~= DEAD then
    return NOT_DEAD
  end
  if has(task, KEYED) and holder(holder_field(task)) then
    return KEY_PENDING
  end
  raise_fence(task)
  set_error(task, '')
  task.attempt, task.deliveries, task.lost = 1, 0, 0
  schedule_again(task, now, false)
  return REQUEUED
end

local reply = {}
for i, id in ipairs(load_arguments(2, 1)) do
  reply[i] = requeue(read[id])
end
save()
return reply

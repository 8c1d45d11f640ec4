-- needs: model, clock, limited, for_each, delete, set_error, schedule_again, save
-- running -> scheduled, or deleted if its schedule has ended or a newer pending task has the key; a scheduled task
-- stays as it is
-- ARGV: offset, then for each task: id, fence, attempt, delay, error
-- Returns, for each task: a reply
local replies = for_each(2, 5, function(task, i)
  if task and task.state == RUNNING and has(task, ENDED) then
    delete(task)
    return DONE
  elseif task and task.state == RUNNING then
    set_error(task, ARGV[i + 4])
    task.attempt = tonumber(ARGV[i + 2])
    return schedule_again(task, limited(now + ARGV[i + 3]), false) and DONE or SUPERSEDED
  end
  return task and task.state == SCHEDULED and DONE or REFUSED
end)
save()
return replies

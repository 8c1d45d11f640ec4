-- needs: model, for_each, delete, schedule_again, save
-- leased or running -> scheduled, or deleted if its schedule has ended or a newer pending task has the key; a scheduled
-- task stays as it is
-- ARGV: offset, '1' if the bodies have started and their deliveries count, then for each task: id, fence
-- Returns, for each task: a reply
local replies = for_each(3, 2, function(task)
  if task and task.state == RUNNING and has(task, ENDED) then
    delete(task)
    return DONE
  elseif task and (task.state == LEASED or task.state == RUNNING) then
    -- A running task that is a suspect has not begun under this lease.
    if ARGV[2] ~= '1' and task.state == RUNNING and not has(task, SUSPECT) then
      task.deliveries = task.deliveries - 1
    end
    local suspect = has(task, SUSPECT) or has(task, ALONE)
    return schedule_again(task, task.due, suspect) and DONE or SUPERSEDED
  end
  return task and task.state == SCHEDULED and DONE or REFUSED
end)
save()
return replies

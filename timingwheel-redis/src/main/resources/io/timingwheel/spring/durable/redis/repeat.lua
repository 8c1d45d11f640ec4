-- needs: model, for_each, delete, due_time, set_error, change, set, store_whole, save
-- leased or running -> scheduled for its next run; deleted if its schedule has ended; a scheduled task stays as it is
-- ARGV: offset, then for each task: id, fence, the schedule that gives the next time, the next time or the delay to it,
-- '1' if a time (nothing if there is no further run), error or nothing
-- Returns, for each task: a reply
local replies = for_each(2, 6, function(task, i, gone)
  if task and (task.state == LEASED or task.state == RUNNING) then
    if not has(task, RECURRING) or ARGV[i + 4] == '' and task.schedule == ARGV[i + 2] then
      delete(task)
      return DONE
    end
    local due = task.schedule == ARGV[i + 2] and due_time(ARGV[i + 3], ARGV[i + 4]) or task.scheduled
    set_error(task, ARGV[i + 5])
    take_out(task)
    task.due, task.scheduled, task.attempt, task.deliveries, task.lost = due, due, 1, 0, 0
    set(task, SUSPECT, false)
    set(task, ALONE, false)
    put_in(task, SCHEDULED, due)
    store_whole(task)
    return DONE
  end
  return (gone or task and task.state == SCHEDULED) and DONE or REFUSED
end)
save()
return replies

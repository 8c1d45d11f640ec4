-- leased or running -> dead; a dead task stays as it is
-- ARGV: offset, then for each task: id, fence, reason
-- Returns, for each task: a reply
return for_each(2, 3, function(task, i)
  if task and (task.state == LEASED or task.state == RUNNING) then
    give_up_key(task)
    set_error(task, ARGV[i + 2])
    change(task, { state = DEAD, at = now })
    return DONE
  end
  return task and task.state == DEAD and DONE or REFUSED
end)

-- ARGV: offset, then id, fence and reason of each
-- Returns: a reply for each
return each(2, 3, function(task, i)
  if task and (task.state == LEASED or task.state == RUNNING) then
    yield_key(task)
    fail(task, ARGV[i + 2])
    change(task, { state = DEAD, at = now })
    return DONE
  end
  return task and task.state == DEAD and DONE or REFUSED
end)

-- ARGV: offset, then id and fence of each
-- Returns: a reply for each
return each(2, 2, function(task)
  if task and (task.state == LEASED or task.state == RUNNING) then
    return back(task, {}) and DONE or SUPERSEDED
  end
  return task and task.state == SCHEDULED and DONE or REFUSED
end)

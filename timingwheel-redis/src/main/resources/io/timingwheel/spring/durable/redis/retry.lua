-- ARGV: offset, then id, fence, attempt, delay and error of each
-- Returns: a reply for each
return each(2, 5, function(task, i)
  if task and task.state == RUNNING then
    fail(task, ARGV[i + 4])
    local again = { attempt = tonumber(ARGV[i + 2]), due = limited(now + ARGV[i + 3]) }
    return back(task, again) and DONE or SUPERSEDED
  end
  return task and task.state == SCHEDULED and DONE or REFUSED
end)

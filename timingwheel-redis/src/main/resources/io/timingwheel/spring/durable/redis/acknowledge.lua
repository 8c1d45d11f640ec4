-- ARGV: offset, then id and fence of each
-- Returns: a reply for each
return each(2, 2, function(task, _, gone)
  if task and task.state == RUNNING then
    delete(task)
  elseif not gone then
    return REFUSED
  end
  return DONE
end)

-- ARGV: offset, lease, then id and fence of each
-- Returns: a reply for each
local ends = now + ARGV[2]
return each(3, 2, function(task)
  if task and task.state == LEASED then
    yield_key(task)
    change(task, { state = RUNNING, at = ends, deliveries = task.deliveries + 1 })
  elseif not task or task.state ~= RUNNING then
    return REFUSED
  end
  return DONE
end)

-- leased, or running suspect -> running, alone if it was a suspect; another running task stays as it is
-- ARGV: offset, lease (or its end), then for each task: id, fence
-- Returns, for each task: a reply
local ends = lease_end(ARGV[2])
return for_each(3, 2, function(task)
  if task and (task.state == LEASED or task.state == RUNNING and has(task, SUSPECT)) then
    give_up_key(task)
    change(task, { state = RUNNING, at = ends, deliveries = task.deliveries + 1, suspect = false,
      alone = has(task, SUSPECT) })
  elseif not task or task.state ~= RUNNING then
    return REFUSED
  end
  return DONE
end)

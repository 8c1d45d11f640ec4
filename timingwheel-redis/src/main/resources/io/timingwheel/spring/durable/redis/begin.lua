-- needs: model, lease_end, for_each, give_up_key, change, set, save
-- leased, or running suspect -> running, alone if it was a suspect; another running task stays as it is
-- ARGV: offset, lease (or its end), then for each task: id, fence
-- Returns, for each task: a reply
local ends = lease_end(ARGV[2])
local replies = for_each(3, 2, function(task)
  if task and (task.state == LEASED or task.state == RUNNING and has(task, SUSPECT)) then
    give_up_key(task)
    take_out(task)
    task.deliveries = task.deliveries + 1
    set(task, ALONE, has(task, SUSPECT))
    set(task, SUSPECT, false)
    put_in(task, RUNNING, ends)
  elseif not task or task.state ~= RUNNING then
    return REFUSED
  end
  return DONE
end)
save()
return replies

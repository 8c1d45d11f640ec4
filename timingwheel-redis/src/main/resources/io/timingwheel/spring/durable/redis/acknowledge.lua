-- needs: model, for_each, delete
-- running -> deleted
-- ARGV: offset, then for each task: id, fence
-- Returns, for each task: a reply
local replies = for_each(2, 2, function(task, _, gone)
  if task and task.state == RUNNING then
    delete(task)
  elseif not gone then
    return REFUSED
  end
  return DONE
end)
write_deletions()
return replies

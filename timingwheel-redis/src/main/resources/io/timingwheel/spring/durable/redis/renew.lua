-- needs: model, lease_end, for_each, change, save
-- running -> running with a new end of the lease
-- ARGV: offset, lease (or its end), then for each task: id, fence
-- Returns, for each task: a reply
local ends = lease_end(ARGV[2])
local replies = for_each(3, 2, function(task)
  if not task or task.state ~= RUNNING then
    return REFUSED
  end
  take_out(task)
  put_in(task, RUNNING, ends)
  return DONE
end)
save()
return replies

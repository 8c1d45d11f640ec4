-- running -> running with a new end of the lease
-- ARGV: offset, lease (or its end), then for each task: id, fence
-- Returns, for each task: a reply
local ends = lease_end(ARGV[2])
return for_each(3, 2, function(task)
  if not task or task.state ~= RUNNING then
    return REFUSED
  end
  change(task, { at = ends })
  return DONE
end)

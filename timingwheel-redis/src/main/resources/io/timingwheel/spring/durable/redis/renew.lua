-- ARGV: offset, lease, then id and fence of each
-- Returns: a reply for each
local ends = now + ARGV[2]
return each(3, 2, function(task)
  if not task or task.state ~= RUNNING then
    return REFUSED
  end
  change(task, { at = ends })
  return DONE
end)

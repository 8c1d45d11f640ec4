-- needs: model, clock, all_names, count, entries, delete_dead, for_each, delete, give_up_key, set_error, change, save
-- leased or running -> dead, or deleted if its schedule has ended; a dead task stays as it is; the oldest dead tasks
-- beyond the limit -> deleted
-- ARGV: offset, how many dead tasks the partition keeps, then for each task: id, fence, reason
-- Returns, for each task: a reply; at last how many dead tasks were deleted
local max = tonumber(ARGV[2])

-- Deletes the oldest dead tasks of the names that have most of them.
local function drop_oldest()
  if call('ZCARD', INDEX) <= max then
    return 0
  end
  local dead, excess = {}, -max
  for_each_name(function(name)
    local tasks = count(name, DEAD)
    excess = excess + tasks
    dead[#dead + 1] = { name = name, tasks = tasks }
  end)
  table.sort(dead, function(one, other) return one.tasks > other.tasks end)
  local dropped = 0
  for _, one in ipairs(dead) do
    local list = entries(one.name, DEAD, math.max(0, math.min(excess - dropped, 1000)))
    delete_dead(list)
    dropped = dropped + #list
  end
  write_deletions()
  return dropped
end

local replies = for_each(3, 3, function(task, i)
  if task and task.state == RUNNING and has(task, ENDED) then
    delete(task)
    return DONE
  elseif task and (task.state == LEASED or task.state == RUNNING) then
    give_up_key(task)
    set_error(task, ARGV[i + 2])
    take_out(task)
    put_in(task, DEAD, now)
    return DONE
  end
  return task and task.state == DEAD and DONE or REFUSED
end)
save()
removed, deleted, holders = {}, {}, {}
replies[#replies + 1] = drop_oldest()
return replies

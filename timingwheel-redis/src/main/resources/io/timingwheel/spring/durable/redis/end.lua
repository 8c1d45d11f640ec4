-- The events with which a node ends what it does with its tasks. The oldest dead tasks beyond the limit -> gone
-- ARGV: clock, how many dead tasks a name keeps, then for each task: id, fence, event, and the arguments of the
-- event: none for acknowledge; schedule, next time or delay, '1' if a time (nothing if there is no next time), error or
-- nothing for repeat; attempt, delay, error for retry; '1' if the body has started for release; reason for bury
-- Returns: how many dead tasks were dropped; the replies...
local WIDTHS = { acknowledge = 3, ['repeat'] = 7, retry = 6, release = 4, bury = 4 }
local AFTER = { ['repeat'] = SCHEDULED, retry = SCHEDULED, release = SCHEDULED, bury = DEAD } -- the states after events
local MAX_DROPPED = 1000

local buried = {} -- the names of buried tasks

-- Each event changes a task that is leased or running. The argument i is the position of its arguments.
local events = {}

function events.acknowledge(task)
  if task.state ~= RUNNING then
    return REFUSED
  end
  delete(task)
  return DONE
end

events['repeat'] = function(task, i)
  local same = task.schedule == ARGV[i]
  if not task.schedule or same and ARGV[i + 2] == '' then
    delete(task)
    return DONE
  end
  task.scheduled = same and due_time(ARGV[i + 1], ARGV[i + 2]) or task.scheduled
  task.attempt, task.deliveries, task.lost = 1, 0, 0
  task.error = ARGV[i + 3] ~= '' and ARGV[i + 3] or nil
  schedule_again(task, task.scheduled)
  return DONE
end

function events.retry(task, i)
  if task.state ~= RUNNING then
    return REFUSED
  end
  task.attempt, task.lost, task.error = tonumber(ARGV[i]), 0, ARGV[i + 2]
  return schedule_again(task, at_most(now + ARGV[i + 1])) and DONE or SUPERSEDED
end

function events.release(task, i)
  if ARGV[i] ~= '1' and task.state == RUNNING then
    task.deliveries = task.deliveries - 1
  end
  return schedule_again(task, task.due) and DONE or SUPERSEDED
end

function events.bury(task, i)
  if task.schedule == false then
    delete(task)
    return DONE
  end
  buried[task.name] = true
  give_up_key(task)
  task.error = ARGV[i]
  put(task, DEAD, now)
  return DONE
end

local function settle(event, id, fence, i)
  local task = tasks[id]
  if not task and (event == 'acknowledge' or event == 'repeat') then
    return DONE
  elseif not task or task.fence ~= tonumber(fence) then
    return REFUSED
  elseif task.state == DEAD or task.state == SCHEDULED then -- the call may be repeated
    return task.state == AFTER[event] and DONE or REFUSED
  end
  return events[event](task, i)
end

local ids, starts, i = {}, {}, 3
while i <= #ARGV do
  append(starts, i)
  append(ids, ARGV[i])
  i = i + WIDTHS[ARGV[i + 2]]
end
load(ids)
local replies = { 0 }
for _, start in ipairs(starts) do
  append(replies, settle(ARGV[start + 2], ARGV[start], ARGV[start + 1], start + 3))
end
save()
for name in pairs(buried) do
  local excess = math.max(0, count(name, DEAD) - ARGV[2])
  delete_dead(entries(name, DEAD, math.min(excess, MAX_DROPPED)))
end
replies[1] = #gone
save()
return replies

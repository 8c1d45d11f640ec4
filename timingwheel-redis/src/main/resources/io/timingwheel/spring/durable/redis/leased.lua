-- What a node does with the tasks that it has leased. The oldest dead tasks beyond the limit -> gone
-- ARGV: clock, how many dead tasks a name keeps, then for each task: id, fence, event, and the arguments of the event:
-- lease for begin and renew; none for acknowledge; schedule, next time or delay, '1' if a time (nothing if there is no
-- next time), error or nothing for repeat; attempt, delay, error for retry; '1' if the body has started for release;
-- reason for bury
-- Returns: how many dead tasks were dropped; the replies...
local WIDTHS = { begin = 4, renew = 4, acknowledge = 3, ['repeat'] = 7, retry = 6, release = 4, bury = 4 }
local NEEDS_RUN = { renew = true, acknowledge = true, retry = true } -- events of running tasks only
local AFTER = { ['repeat'] = SCHEDULED, retry = SCHEDULED, release = SCHEDULED, bury = DEAD } -- the states after events
local MAX_DROPPED = 1000

local buried = {} -- the names of buried tasks

-- Each event changes a task that is leased or running. One without a reply is done. Its arguments begin at position i.
local events = { acknowledge = delete }

function events.begin(task, i)
  if task.state == LEASED and task.lost > 0 and task.at <= now then
    return REFUSED -- it counts for no limit any longer
  elseif task.state == LEASED then
    give_up_key(task)
    task.deliveries, task.first = task.deliveries + 1, nil
  end
  put(task, RUNNING, at_most(now + ARGV[i]))
end

function events.renew(task, i)
  put(task, RUNNING, at_most(now + ARGV[i]))
end

events['repeat'] = function(task, i)
  local same = task.schedule == ARGV[i]
  if not task.schedule or same and ARGV[i + 2] == '' then
    return delete(task)
  end
  task.scheduled = same and due_time(ARGV[i + 1], ARGV[i + 2]) or task.scheduled
  task.attempt, task.deliveries, task.lost = 1, 0, 0
  task.error = ARGV[i + 3] ~= '' and ARGV[i + 3] or nil
  schedule_again(task, task.scheduled)
end

function events.retry(task, i)
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
    return delete(task)
  end
  buried[task.name] = true
  give_up_key(task)
  task.error = ARGV[i]
  put(task, DEAD, now)
end

local function change(event, id, fence, i)
  local task = tasks[id]
  if not task and (event == 'acknowledge' or event == 'repeat') then
    return DONE
  elseif not task or task.fence ~= tonumber(fence) then
    return REFUSED
  elseif task.state == DEAD or task.state == SCHEDULED then -- the call may be repeated
    return task.state == AFTER[event] and DONE or REFUSED
  elseif task.state == LEASED and NEEDS_RUN[event] then
    return REFUSED
  end
  return events[event](task, i) or DONE
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
  append(replies, change(ARGV[start + 2], ARGV[start], ARGV[start + 1], start + 3))
end
save()
for name in pairs(buried) do
  local excess = math.max(0, count(name, DEAD) - ARGV[2])
  delete_dead(entries(name, DEAD, math.min(excess, MAX_DROPPED)))
end
replies[1] = #gone
save()
return replies

-- running: acknowledge -> gone
-- leased, running: repeat -> scheduled, lost = 0; gone if the schedule has ended
-- running: retry -> scheduled, lost = 0; gone if its key is taken
-- leased, running: release -> scheduled; gone if its key is taken. The delivery is undone if the body has not started
-- leased, running: bury -> dead. The oldest dead tasks beyond the limit -> gone
-- leased, running, with a schedule that was cancelled: retry, release, bury -> gone
-- ARGV: clock, how many dead tasks the partition keeps, then for each task: id, fence, event, and the arguments of the
-- event: none for acknowledge; schedule, next time or delay, '1' if a time (nothing if there is no next time), error or
-- nothing for repeat; attempt, delay, error for retry; '1' if the body has started for release; reason for bury
-- Returns: how many dead tasks were dropped; the replies...
local WIDTHS = { acknowledge = 3, ['repeat'] = 7, retry = 6, release = 4, bury = 4 }
local MAX_DROPPED = 1000

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
    return (event == 'bury') == (task.state == DEAD) and event ~= 'acknowledge' and DONE or REFUSED
  elseif task.schedule == false and event ~= 'acknowledge' and event ~= 'repeat' then
    delete(task)
    return event == 'bury' and DONE or SUPERSEDED
  end
  return events[event](task, i)
end

-- Deletes the oldest dead tasks of the name that has most of them. Returns how many.
local function drop_oldest(max)
  local excess, most, name = -max, 0, nil
  for_each_name(function(one)
    local dead = count(one, DEAD)
    excess = excess + dead
    if dead > most then
      most, name = dead, one
    end
  end)
  local oldest = excess > 0 and entries(name, DEAD, math.min(excess, MAX_DROPPED)) or {}
  delete_dead(oldest)
  return #oldest
end

local ids, starts, buries, i = {}, {}, false, 3
while i <= #ARGV do
  append(starts, i)
  append(ids, ARGV[i])
  buries = buries or ARGV[i + 2] == 'bury'
  i = i + WIDTHS[ARGV[i + 2]]
end
load(ids)
local replies = { 0 }
for _, start in ipairs(starts) do
  append(replies, settle(ARGV[start + 2], ARGV[start], ARGV[start + 1], start + 3))
end
save()
if buries and call('ZCARD', INDEX) > tonumber(ARGV[2]) then
  replies[1] = drop_oldest(tonumber(ARGV[2]))
  save()
end
return replies

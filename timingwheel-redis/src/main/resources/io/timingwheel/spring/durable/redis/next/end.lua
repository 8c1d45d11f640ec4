-- running: acknowledge -> gone
-- leased, running: repeat -> scheduled, lost = 0; gone if the schedule has ended
-- running: retry -> scheduled, lost = 0; gone if its key is taken
-- leased, running: release -> scheduled; gone if its key is taken. The delivery is undone if the body has not started
-- leased, running: bury -> dead. The oldest dead tasks beyond the limit -> gone
-- The last run of a schedule that was cancelled: retry, release, bury -> gone
-- ARGV: clock, how many dead tasks the partition keeps, then for each task: event, id, fence, and the arguments of the
-- event: nothing for acknowledge; the schedule, the next time or delay, '1' if a time (nothing if there is no next
-- time), error or nothing for repeat; attempt, delay, error for retry; '1' if the body has started for release; reason
-- for bury
-- Returns, for each task: a reply, the name and the place if the task has given up a place; at last how many dead tasks
-- were dropped
local WIDTHS = { acknowledge = 3, ['repeat'] = 7, retry = 6, release = 4, bury = 4 }
local MAX_DROPPED = 1000

-- Each event returns a reply, nil if the task is not in a state for it.
local events = {}

function events.acknowledge(task)
  if task.state == RUNNING then
    delete(task)
    return DONE
  end
end

events['repeat'] = function(task, i)
  if task.state == SCHEDULED then
    return DONE -- the call was repeated
  elseif task.state == DEAD then
    return
  end
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
  if task.state == SCHEDULED then
    return DONE -- the call was repeated
  elseif task.state == RUNNING then
    task.attempt, task.lost, task.error = tonumber(ARGV[i]), 0, ARGV[i + 2]
    return schedule_again(task, at_most(now + ARGV[i + 1])) and DONE or SUPERSEDED
  end
end

function events.release(task, i)
  if task.state == SCHEDULED then
    return DONE -- the call was repeated
  elseif task.state ~= DEAD then
    if ARGV[i] ~= '1' and task.state == RUNNING then
      task.deliveries = task.deliveries - 1
    end
    return schedule_again(task, task.due) and DONE or SUPERSEDED
  end
end

function events.bury(task, i)
  if task.state == DEAD then
    return DONE -- the call was repeated
  elseif task.state ~= SCHEDULED then
    give_up_key(task)
    task.error, task.place = ARGV[i], nil
    put(task, DEAD, now)
    return DONE
  end
end

local function settle(event, id, fence, i)
  local task = tasks[id]
  if not task and (event == 'acknowledge' or event == 'repeat') then
    return DONE
  elseif not task or task.fence ~= tonumber(fence) then
    return REFUSED
  end
  local name, place = task.place and task.name, task.place
  local held = task.state == LEASED or task.state == RUNNING
  if task.schedule == false and held and (event == 'retry' or event == 'release' or event == 'bury') then
    delete(task)
    return event == 'bury' and DONE or SUPERSEDED, name, place
  end
  local reply = events[event](task, i)
  return reply or REFUSED, reply and name, reply and place
end

-- Deletes the oldest dead tasks of the names that have most of them. Returns how many.
local function drop_oldest(max)
  if call('ZCARD', INDEX) <= max then
    return 0
  end
  local names, excess, dropped = {}, -max, 0
  for_each_name(function(name)
    local dead = count(name, DEAD)
    excess = excess + dead
    names[#names + 1] = { name = name, dead = dead }
  end)
  table.sort(names, function(one, other) return one.dead > other.dead end)
  for _, one in ipairs(names) do
    local oldest = excess > dropped and entries(one.name, DEAD, math.min(excess - dropped, MAX_DROPPED)) or {}
    delete_dead(oldest)
    dropped = dropped + #oldest
  end
  return dropped
end

local ids, buries, i = {}, false, 3
while i <= #ARGV do
  ids[#ids + 1] = ARGV[i + 1]
  buries = buries or ARGV[i] == 'bury'
  i = i + WIDTHS[ARGV[i]]
end
load(ids)
local replies = {}
i = 3
while i <= #ARGV do
  local reply, name, place = settle(ARGV[i], ARGV[i + 1], ARGV[i + 2], i + 3)
  local size = #replies
  replies[size + 1], replies[size + 2], replies[size + 3] = reply, name or false, place or false
  i = i + WIDTHS[ARGV[i]]
end
save()
if buries then
  removed, gone, holders = {}, {}, {}
  replies[#replies + 1] = drop_oldest(tonumber(ARGV[2]))
  write_deletions()
else
  replies[#replies + 1] = 0
end
return replies

-- A limited name leases none of its tasks before they are due, but those that are too late to start.
-- ARGV: clock, '1' to lease the first suspect and, if there is one, nothing else, look-ahead, lease, largest payload, how
-- many tasks, of how many further tasks to return the times, then for each name: name, how many tasks may begin, how many
-- may be leased before they are due, '1' if it is limited, how many may run at once (0: any number), how many of a key (0:
-- any number), microseconds between two starts (0: no rate), burst, by how much a task may be late (nothing: any time)
-- Returns: now; the names in PAUSED; after how long the next task can be claimed, of names without limits and of limited
-- names (-1: never); 1 if deliveries were found lost; 1 if tasks wait for room or for others; the time of the first suspect
-- that may begin and was not leased (-1: none); the times of further tasks; tasks...
local WIDTH, FIRST = 9, 8
local MAX_LOST = 200 -- of one name
local ahead, lease, max_payload = at_most(now + ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local limit, tells = tonumber(ARGV[6]), tonumber(ARGV[7])

local chosen, suspects, next_at, lost, more = {}, {}, { plain = math.huge, limited = math.huge }, 0, 0

local function note_next(name, time)
  local class = name.limited and 'limited' or 'plain'
  next_at[class] = math.min(next_at[class], time)
end

-- Reads the first entry of each section of the name, the dead aside, whose letter comes first in INDEX.
local function look(name)
  name.first = {}
  local from, to = '[' .. section(name.text, LEASED), '(' .. section(name.text, '\255')
  while from do
    local first = call('ZRANGEBYLEX', INDEX, from, to, 'LIMIT', 0, 1)[1]
    local letter = first and sub(first, #name.text + 2, #name.text + 2)
    if first then
      name.first[letter] = struct.unpack('>I8', first, #name.text + 3)
    end
    from = first and '(' .. section(name.text, letter) .. '\255'
  end
end

-- The entries of a section up to a time.
local function up_to(name, letter, time, max)
  local first = name.first[letter]
  if not first or first > time then -- nothing to read, although running and leased tasks may be many
    note_next(name, first or math.huge)
    return {}
  end
  local found = entries(name.text, letter, max)
  while #found > 0 and found[#found].at > time do
    note_next(name, table.remove(found).at)
  end
  return found
end

-- How many tasks of each key run. A suspect counts for other suspects from its claim on, and for other tasks from its
-- loss on.
local function busy_keys(name, for_suspects)
  local keys, sum = {}, 0
  for _, letter in ipairs({ RUNNING, 'u', 'v' }) do
    for _, task in ipairs(tasks_of(entries(name.text, letter, 10000))) do
      if task.key and (letter == RUNNING or not for_suspects or letter == 'v' and task.at > now) then
        keys[task.key] = (keys[task.key] or 0) + 1
        sum = sum + 1
      end
    end
  end
  return keys, sum
end

-- Leaves out the entries that wait for running tasks with their keys, or for those before them.
local function with_free_keys(name, found, keys)
  local free, taken = {}, {}
  for i, task in ipairs(tasks_of(found)) do
    local key = task.key or false
    if not key or found[i].expired or (keys[key] or 0) + (taken[key] or 0) < name.per_key then
      append(free, found[i])
      taken[key] = (taken[key] or 0) + (found[i].expired and 0 or 1)
    else
      more = 1
    end
  end
  return free
end

-- Makes the running tasks scheduled whose leases have ended. Deletes the last run of a schedule that was cancelled.
local function lose(name)
  local found = tasks_of(up_to(name, RUNNING, now, MAX_LOST))
  for _, task in ipairs(found) do
    lost = 1
    if task.schedule == false then
      delete(task)
    else
      raise_fence(task)
      task.lost = task.lost + 1
      put(task, SCHEDULED, task.due)
    end
  end
  if #found > 0 then -- the tasks are suspects for what follows
    save()
    look(name)
  end
end

-- How many tasks may start now: beside those that run, and by the rate. A suspect that is leased counts as running.
local function read_limits(name)
  name.places, name.starts = math.huge, math.huge
  if name.concurrent > 0 then
    local leased_suspects = count(name.text, 'v') - count(name.text, 'v', now)
    name.places = name.concurrent - count(name.text, RUNNING) - leased_suspects
  end
  if name.interval > 0 then
    -- A value that is later than a burst comes from other limits, or from a clock that was set back.
    name.stored = tonumber(call('HGET', STARTS, name.text) or 0)
    name.next_start = math.min(name.stored, now * 1000 + name.burst * name.interval)
    name.starts = math.floor(name.burst - math.max(0, name.next_start - now * 1000) / name.interval)
  end
end

-- The first tasks that are due, or due soon if the name has no limits. If each key has a limit, without those that wait.
-- Of the tasks with a key at most two are pending, so at most twice as many wait as run, and are chosen.
local function claimable(name, size)
  local keys, running = {}, 0
  if name.per_key > 0 and size > 1 then -- otherwise nothing may begin
    keys, running = busy_keys(name, false)
  end
  local wanted, most = size, 2 * (size + running)
  while true do
    local found = merged(up_to(name, SCHEDULED, name.limited and now or ahead, size),
        up_to(name, LEASED, now, size))
    for _, one in ipairs(found) do
      one.name, one.expired = name, name.late and one.at < now - name.late
    end
    local free = name.per_key > 0 and with_free_keys(name, found, keys) or found
    if name.per_key == 0 or #free >= wanted or #found < size or size >= most then
      return free
    end
    size = math.min(most, 4 * size)
  end
end

-- Chooses tasks as if there was no other name.
local function choose_from(name)
  look(name)
  lose(name)
  read_limits(name)
  local most = name.per_key > 0 and 1000 or 1
  local waiting = merged(up_to(name, 'u', now, most), up_to(name, 'v', now, most))
  local places = name.places - (#waiting > 0 and 1 or 0) -- the suspects could wait for ever
  if ARGV[2] == '1' and name.places > 0 and name.starts > 0 then
    local free = name.per_key > 0 and #waiting > 0 and with_free_keys(name, waiting, busy_keys(name, true)) or waiting
    if free[1] then
      free[1].name = name
      append(suspects, free[1])
    end
  end
  if not name.first[SCHEDULED] and not name.first[LEASED] then
    return
  end
  local room, starts, may_lease = math.min(name.due, limit + tells), name.starts, math.min(name.soon, limit + tells)
  local expire = name.late and (name.first[SCHEDULED] or now) < now - name.late
  local may_take = expire and room or math.max(0, math.min(room, places, starts)) -- what is too late counts for no limit
  for _, one in ipairs(claimable(name, may_take + may_lease + 1)) do
    if one.expired and room > 0 then
      room = room - 1
      append(chosen, one)
    elseif one.at <= now and math.min(room, places, starts) > 0 then
      room, places, starts = room - 1, places - 1, starts - 1
      append(chosen, one)
    elseif one.at > now and may_lease > 0 then
      may_lease = may_lease - 1
      append(chosen, one)
    elseif starts < math.min(room, places) then
      name.waits_for_start = true
    else
      more = 1
      note_next(name, one.at > now and one.at or math.huge)
    end
  end
end

local paused, is_paused, names = call('SMEMBERS', PAUSED), {}, {}
for _, one in ipairs(paused) do
  is_paused[one] = true
end
for i = FIRST, #ARGV, WIDTH do
  if not is_paused[ARGV[i]] then
    local limited = ARGV[i + 3] == '1'
    append(names, { text = ARGV[i], due = tonumber(ARGV[i + 1]), soon = limited and 0 or tonumber(ARGV[i + 2]),
      limited = limited, concurrent = tonumber(ARGV[i + 4]), per_key = tonumber(ARGV[i + 5]),
      interval = tonumber(ARGV[i + 6]), burst = tonumber(ARGV[i + 7]), late = tonumber(ARGV[i + 8]) })
    choose_from(names[#names])
  end
end
table.sort(suspects, by_time)
if suspects[1] and limit > 0 then
  chosen, suspects, more = { suspects[1] }, {}, 1
elseif #chosen > limit then
  table.sort(chosen, by_time)
end

-- Leases or begins a task.
local function take(task, one, body)
  raise_fence(task)
  if task.lost == 0 and task.due <= now and not one.expired then
    give_up_key(task)
    task.deliveries, task.first = task.deliveries + 1, nil
    put(task, RUNNING, at_most(now + lease))
  else
    put(task, LEASED, at_most(math.max(task.due, now) + lease))
  end
  if one.name.interval > 0 and not one.expired then
    one.name.next_start = math.max(one.name.next_start, now * 1000) + one.name.interval
  end
  local payload, trace = cmsgpack.unpack(body)
  return { task.id, task.fence, task.name, task.key or false, #payload <= max_payload and payload, trace or false,
    task.due, task.state == RUNNING and 1 or 0, task.attempt, task.deliveries, task.lost, task.schedule or false,
    task.scheduled or 0 }
end

local first, further, taken = {}, {}, {}
for i, one in ipairs(chosen) do
  if i <= limit then
    append(first, one)
  elseif i <= limit + tells then
    append(further, one.at)
  end
end
local found, ids = tasks_of(first)
for i, body in ipairs(#ids > 0 and call('HMGET', BODIES, unpack(ids)) or {}) do
  append(taken, take(found[i], first[i], body))
end
save()
for _, name in ipairs(names) do
  if name.next_start ~= name.stored then
    call('HDEL', STARTS, name.text) -- see save: this may be the first write
    call('HSET', STARTS, name.text, string.format('%.0f', name.next_start))
  end
  if name.waits_for_start then -- for half a burst, since a claim of each single task would cost more
    local missing = name.burst - math.max(1, math.floor(name.burst / 2))
    note_next(name, math.ceil((name.next_start - missing * name.interval) / 1000))
  end
end

local function delay(time)
  return time < math.huge and math.max(0, time - now) or -1
end

return { now, paused, delay(next_at.plain), delay(next_at.limited), lost, more, suspects[1] and suspects[1].at or -1,
  further, unpack(taken) }

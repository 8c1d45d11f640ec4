-- scheduled: due soon, or lost > 0 -> leased; due, lost = 0 -> running, without its key
-- leased, lease over -> as from scheduled
-- running, lease over -> scheduled, without its key, lost + 1
-- A limited name leases none of its tasks before they are due, but those that are too late to start.
-- ARGV: clock, '1' to lease the first suspect and nothing else, look-ahead, lease, largest payload, how many tasks, the
-- last time at which tasks may begin (nothing: any time), what the ids of the places begin with (nothing if the tasks need none),
-- the number of the first place, then for each name, in the order of INDEX: name, how many tasks may begin, how many may
-- be leased, of how many further tasks to return the times, '1' if it is limited, how many tasks of a key may run (0: any
-- number), by how much a task may be late (nothing: any time)
-- Returns: now; the names in PAUSED; the earliest time of what cannot be claimed yet, of names without limits and of
-- limited names (-1 for none); the numbers of the names with deliveries that this call has found lost; 1 if tasks wait for
-- others with their keys; the times of further tasks, and of the first suspects, each after the number of its name;
-- tasks...
local WIDTH, FIRST = 7, 10
local MAX_LOST = 200 -- of one name
local wants_suspect = ARGV[2] == '1'
local ahead, lease, max_payload = at_most(now + ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local limit, places, place = tonumber(ARGV[6]), ARGV[8], tonumber(ARGV[9])
if now > (tonumber(ARGV[7]) or math.huge) then
  limit = 0 -- the node has stalled since it took places or starts
end

local paused, is_paused = call('SMEMBERS', PAUSED), {}
for _, name in ipairs(paused) do
  is_paused[name] = true
end

local chosen, further, suspects, later, lost, waits = {}, {}, {}, { math.huge, math.huge }, {}, false

local function order(one, other)
  return one.at < other.at
end

-- Of a name. The class is 1 without limits, and 2 with limits.
local function wait_until(class, time)
  later[class] = math.min(later[class], time)
end

-- The entries of a section up to a time, which begin after a bound.
local function up_to(time, name, letter, max, class, bound)
  local found = entries(name, letter, max, bound)
  for i, one in ipairs(found) do
    if one.at > time then
      wait_until(class, one.at)
      return { unpack(found, 1, i - 1) }
    end
  end
  return found
end

-- How many tasks of each key of a name run. A suspect counts from its claim on and, for tasks that are no suspects, from
-- the loss on.
local function busy_keys(name, for_suspects)
  local ids, keys, sum = {}, {}, 0
  for _, letter in ipairs({ RUNNING, 'u', 'v' }) do
    for _, one in ipairs(entries(name, letter, 10000)) do
      if letter == RUNNING or not for_suspects or letter == 'v' and one.at > now then
        ids[#ids + 1] = one.id
      end
    end
  end
  load(ids)
  for _, id in ipairs(ids) do
    local key = tasks[id] and tasks[id].key
    if key then
      keys[key] = (keys[key] or 0) + 1
      sum = sum + 1
    end
  end
  return keys, sum
end

-- Leaves out the entries that wait for running tasks with their keys, and for those before them.
local function with_free_keys(found, keys, per_key)
  local ids, free, taken = {}, {}, {}
  for i, one in ipairs(found) do
    ids[i] = one.id
  end
  load(ids)
  for _, one in ipairs(found) do
    local key = tasks[one.id] and tasks[one.id].key
    if not key or (keys[key] or 0) + (taken[key] or 0) < per_key then
      free[#free + 1] = one
      if key then
        taken[key] = (taken[key] or 0) + 1
      end
    end
  end
  waits = waits or #free < #found
  return free
end

-- The running tasks whose leases have ended.
local function lose(name, class, number)
  for _, one in ipairs(up_to(now, name, RUNNING, MAX_LOST, class)) do
    local task = find(one.id)
    if task then
      give_up_key(task)
      raise_fence(task)
      task.lost, task.place = task.lost + 1, nil
      put(task, SCHEDULED, task.due)
      lost[#lost + (lost[#lost] == number and 0 or 1)] = number
    else
      removed[#removed + 1] = one.member
    end
  end
end

-- The suspects that are due.
local function due_suspects(name, class, per_key)
  local max = per_key > 0 and 1000 or 1
  local found = up_to(now, name, 'u', max, class)
  for _, one in ipairs(up_to(now, name, 'v', max, class)) do
    found[#found + 1] = one
  end
  table.sort(found, order)
  return per_key > 0 and #found > 0 and with_free_keys(found, busy_keys(name, true), per_key) or found
end

-- The tasks of a name that are due, or due soon if it has no limits; the first ones by their times.
local function claimable(name, present, class, size, bound)
  local found = present[SCHEDULED] and up_to(class == 1 and ahead or now, name, SCHEDULED, size, class, bound) or {}
  for _, one in ipairs(present[LEASED] and up_to(now, name, LEASED, size, class) or {}) do
    found[#found + 1] = one
  end
  table.sort(found, order)
  return found
end

-- Those of them whose keys are free. Of the tasks with a key at most two are pending. So at most twice as many wait as
-- run, and are chosen.
local function claimable_with_free_keys(name, present, size, bound, per_key)
  local keys, running = busy_keys(name, false)
  local most = 2 * (size + running)
  while true do
    local found = claimable(name, present, 2, size, bound)
    local free = with_free_keys(found, keys, per_key)
    if #free >= size or #found < size or size >= most then
      return free
    end
    size = math.min(most, 4 * size)
  end
end

local function choose(i, present)
  local name, may_begin, may_lease = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local further_left, class, per_key = tonumber(ARGV[i + 3]), ARGV[i + 4] == '1' and 2 or 1, tonumber(ARGV[i + 5])
  local number = (i - FIRST) / WIDTH
  if present.u or present.v then
    local first = due_suspects(name, class, per_key)[1]
    if first then
      suspects[#suspects + 1], suspects[#suspects + 2] = number, first.at
      if wants_suspect then
        chosen[1] = first
      end
    end
  end
  if wants_suspect then
    return
  end
  if present[RUNNING] then
    lose(name, class, number)
  end
  local bound
  if ARGV[i + 6] ~= '' and present[SCHEDULED] then
    local start = now - ARGV[i + 6]
    bound = time_in_index(math.max(0, start))
    for _, one in ipairs(up_to(start - 1, name, SCHEDULED, may_lease, 2)) do
      one.expired = true
      chosen[#chosen + 1] = one
    end
  end
  if not (present[SCHEDULED] or present[LEASED]) then
    return
  end
  local size = may_begin + (class == 1 and may_lease or 0) + further_left + 1
  local found = per_key > 0 and claimable_with_free_keys(name, present, size, bound, per_key)
      or claimable(name, present, class, size, bound)
  if class == 2 and #found > 0 then -- the entries may end before the first one that is not due
    for _, one in ipairs(entries(name, SCHEDULED, 1, time_in_index(now + 1))) do
      wait_until(class, one.at)
    end
  end
  for _, one in ipairs(found) do
    one.number = number
    if one.at <= now and may_begin > 0 then
      may_begin = may_begin - 1
      chosen[#chosen + 1] = one
    elseif one.at > now and may_lease > 0 then
      may_lease = may_lease - 1
      chosen[#chosen + 1] = one
    elseif further_left > 0 then
      further_left = further_left - 1
      further[#further + 1] = one
    end
  end
end

-- Which sections a name has that a claim reads. The argument is the first member from LEASED on. The sections have the
-- order of INDEX, and a look-up that passes a section shows that it is empty.
local function sections(name, first)
  local present = {}
  for _, letter in ipairs({ LEASED, RUNNING, SCHEDULED, 'u', 'v' }) do
    if first and byte(first, #name + 2) < byte(letter) then
      first = call('ZRANGEBYLEX', INDEX, '[' .. section(name, letter), '(' .. section(name, '\255'), 'LIMIT', 0, 1)[1]
    end
    present[letter] = first and byte(first, #name + 2) == byte(letter)
  end
  return present
end

-- Whether a text comes before another by its bytes. The operator < depends on the locale of Redis.
local function precedes(one, other)
  for i = 1, math.min(#one, #other) do
    if byte(one, i) ~= byte(other, i) then
      return byte(one, i) < byte(other, i)
    end
  end
  return #one < #other
end

-- Visits the names in ARGV that have tasks to claim. Makes at most two look-ups for each name in INDEX, and one more.
local i = FIRST
while i <= #ARGV do
  local first = call('ZRANGEBYLEX', INDEX, '[' .. section(ARGV[i], LEASED), '+', 'LIMIT', 0, 1)[1]
  if not first then
    break
  end
  local known = sub(first, 1, 1 + byte(first))
  while i <= #ARGV and precedes(section(ARGV[i], ''), known) do
    i = i + WIDTH
  end
  if i <= #ARGV and section(ARGV[i], '') == known then
    if byte(first, #known + 1) >= byte(LEASED) and not is_paused[ARGV[i]] then
      choose(i, sections(ARGV[i], first))
    end
    i = i + WIDTH
  end
end

table.sort(chosen, order)
local taken = {}
for position, one in ipairs(chosen) do
  if position <= limit then
    taken[#taken + 1] = one.id
  elseif one.number then
    further[#further + 1] = one
  end
end
load(taken)

local reply = { now, paused, later[1] < math.huge and later[1] or -1, later[2] < math.huge and later[2] or -1,
  lost, waits and 1 or 0, {}, suspects }
for j, one in ipairs(further) do
  reply[7][2 * j - 1], reply[7][2 * j] = one.number, one.at
end
for position, id in ipairs(taken) do
  local task, one = tasks[id], chosen[position]
  if task then
    raise_fence(task)
    if places ~= '' then
      task.place = places .. place
      place = place + 1
    end
    if task.lost == 0 and task.due <= now and not one.expired then
      give_up_key(task)
      task.deliveries = task.deliveries + 1
      put(task, RUNNING, at_most(now + lease))
    else
      put(task, LEASED, at_most(math.max(task.due, now) + lease))
    end
    local payload, trace = cmsgpack.unpack(call('HGET', BODIES, id))
    reply[#reply + 1] = { id, task.fence, task.name, task.key or false, #payload <= max_payload and payload,
      trace or false, task.due, task.state == RUNNING and 1 or 0, task.attempt, task.deliveries, task.lost,
      task.schedule or false, task.scheduled or 0 }
  else
    removed[#removed + 1] = one.member -- an entry without a task
  end
end
save()
return reply

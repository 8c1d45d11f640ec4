-- scheduled: due soon, or lost > 0 -> leased; due, lost = 0 -> running, without its key
-- leased, lease over -> as from scheduled
-- running, lease over -> scheduled, without its key, lost + 1
-- A limited name leases none of its tasks before they are due, but those that are too late to start.
-- ARGV: clock, '1' to lease the first suspect and nothing else, look-ahead, lease, largest payload, how many tasks, then for
-- each name: name, how many tasks may begin, how many may be leased, of how many further tasks to return the times, '1' if
-- it is limited, how many tasks of a key may run (0: any number), by how much a task may be late (nothing: any time), the
-- last time at which tasks may begin (nothing: any time; later the node has stalled since it took places or starts), the
-- first of their places (nothing if they need none; the others have the next numbers)
-- Returns: now; the names in PAUSED; after how long the next task can be claimed, of names without limits and of limited
-- names (-1: never); the names of which deliveries were found lost; 1 if tasks wait for others with their keys; further
-- tasks (name, time, 1 if they may begin); the first suspect of each name (name, time); tasks...
local WIDTH, FIRST = 9, 7
local MAX_LOST = 200 -- of one name
local wants_suspect = ARGV[2] == '1'
local ahead, lease, max_payload, limit = at_most(now + ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local paused, is_paused = call('SMEMBERS', PAUSED), {}
for _, one in ipairs(paused) do
  is_paused[one] = true
end

local chosen, further, suspects, later, lost, waits = {}, {}, {}, { math.huge, math.huge }, {}, false

-- The name that the script looks at, the time of the first entry of each of its sections, its class (1 without limits, 2
-- with limits), and how many tasks of a key may run.
local name, first_at, class, per_key

-- The entries of a section up to a time.
local function up_to(letter, time, max, bound)
  local first = first_at[letter]
  if not first or first > time then -- nothing to read, although running and leased tasks may be many
    later[class] = math.min(later[class], first or math.huge)
    return {}
  end
  local found = entries(name, letter, max, bound)
  for i, one in ipairs(found) do
    if one.at > time then
      later[class] = math.min(later[class], one.at)
      return { unpack(found, 1, i - 1) }
    end
  end
  return found
end

local function sort(found)
  table.sort(found, function(one, other) return one.at < other.at end)
end

-- The entries of two sections in the order of their times.
local function both(found, others)
  for _, one in ipairs(others) do
    found[#found + 1] = one
  end
  if #others > 0 then
    sort(found)
  end
  return found
end

-- How many tasks of each key run. A suspect counts for other suspects from its claim on, and for other tasks from its
-- loss on.
local function busy_keys(for_suspects)
  local keys, sum = {}, 0
  for _, letter in ipairs({ RUNNING, 'u', 'v' }) do
    for _, task in ipairs(tasks_in(name, letter, 10000)) do
      if task.key and (letter == RUNNING or not for_suspects or letter == 'v' and task.at > now) then
        keys[task.key] = (keys[task.key] or 0) + 1
        sum = sum + 1
      end
    end
  end
  return keys, sum
end

-- Leaves out the entries that wait for running tasks with their keys, or for those before them.
local function with_free_keys(found, keys)
  local ids, free, taken = {}, {}, {}
  for i, one in ipairs(found) do
    ids[i] = one.id
  end
  load(ids)
  for _, one in ipairs(found) do
    local key = tasks[one.id] and tasks[one.id].key or false
    if not key or (keys[key] or 0) + (taken[key] or 0) < per_key then
      append(free, one)
      taken[key] = (taken[key] or 0) + 1
    end
  end
  waits = waits or #free < #found
  return free
end

local function first_suspect()
  local max = per_key > 0 and 1000 or 1
  local found = both(up_to('u', now, max), up_to('v', now, max))
  return (per_key > 0 and #found > 0 and with_free_keys(found, busy_keys(true)) or found)[1]
end

-- Makes the running tasks scheduled whose leases have ended.
local function lose()
  for _, one in ipairs(up_to(RUNNING, now, MAX_LOST)) do
    local task = find(one.id)
    if task then
      give_up_key(task)
      raise_fence(task)
      task.lost, task.place = task.lost + 1, nil
      put(task, SCHEDULED, task.due)
      lost[#lost + (lost[#lost] == name and 0 or 1)] = name
    end
  end
end

-- The first tasks that are due, or due soon if the name has no limits. If each key has a limit, without those that wait.
-- Of the tasks with a key at most two are pending, so at most twice as many wait as run, and are chosen.
local function claimable(size, bound)
  local keys, running = {}, 0
  if per_key > 0 and (first_at[SCHEDULED] or first_at[LEASED]) then
    keys, running = busy_keys(false)
  end
  local most = 2 * (size + running)
  while true do
    local all = both(up_to(SCHEDULED, class == 1 and ahead or now, size, bound), up_to(LEASED, now, size))
    local free = per_key > 0 and with_free_keys(all, keys) or all
    if per_key == 0 or #free >= size or #all < size or size >= most then
      return free
    end
    size = math.min(most, 4 * size)
  end
end

local places, place = {}, {} -- by name: what the ids of its places begin with, the number of the next one

-- Chooses tasks of the name, whose arguments begin at i.
local function choose(i)
  local may_begin, may_lease, may_tell = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local late, last = tonumber(ARGV[i + 6]), tonumber(ARGV[i + 7])
  class, per_key = ARGV[i + 4] == '1' and 2 or 1, tonumber(ARGV[i + 5])
  may_begin = now <= (last or now) and may_begin or 0
  places[name], place[name] = string.match(ARGV[i + 8], '(.*:)(%d+)')
  local suspect = first_suspect()
  if suspect then
    append(suspects, name, suspect.at)
  end
  if wants_suspect then
    append(chosen, suspect)
    return
  end
  lose()
  local bound
  if late then -- the first tasks are too late
    bound = index_time(math.max(0, now - late))
    for position, one in ipairs(up_to(SCHEDULED, now - late - 1, may_lease + may_tell)) do
      one.name, one.expired = name, true
      append(position <= may_lease and chosen or further, one)
    end
  end
  local found = claimable(may_begin + (class == 1 and may_lease or 0) + may_tell + 1, bound)
  if class == 2 and #found > 0 then -- they may end before the first task that is not due
    up_to(SCHEDULED, now, 1, index_time(now + 1))
  end
  for _, one in ipairs(found) do
    one.name = name
    if one.at <= now and may_begin > 0 then
      may_begin = may_begin - 1
      append(chosen, one)
    elseif one.at > now and may_lease > 0 then
      may_lease = may_lease - 1
      append(chosen, one)
    elseif may_tell > 0 then
      may_tell = may_tell - 1
      append(further, one)
    end
  end
end

-- Reads the first entry of each section of the name. The letters have the order of INDEX, and a look-up that passes a
-- section shows that it is empty.
local function look()
  first_at = {}
  local first = ''
  for _, letter in ipairs({ LEASED, RUNNING, SCHEDULED, 'u', 'v' }) do
    if first and (byte(first, #name + 2) or 0) < byte(letter) then
      first = call('ZRANGEBYLEX', INDEX, '[' .. section(name, letter), '(' .. section(name, '\255'), 'LIMIT', 0, 1)[1]
    end
    if first and byte(first, #name + 2) == byte(letter) then
      first_at[letter] = struct.unpack('>I8', first, #name + 3)
    end
  end
end

local arguments = {} -- the position of the arguments of each name
for i = FIRST, #ARGV, WIDTH do
  arguments[ARGV[i]] = i
end
if #ARGV >= FIRST then
  for_each_name(function(one)
    name = one
    if arguments[name] and not is_paused[name] then
      look()
      choose(arguments[name])
    end
  end)
end

local ids = {}
if #chosen > limit then
  sort(chosen)
end
for position, one in ipairs(chosen) do
  if position <= limit then
    ids[position] = one.id
  elseif one.name then
    append(further, one)
  end
end
load(ids)
local found = #ids > 0 and call('HMGET', BODIES, unpack(ids))

-- Leases or begins a task.
local function take(task, expired, body)
  raise_fence(task)
  if places[task.name] and not expired then
    task.place = places[task.name] .. place[task.name]
    place[task.name] = place[task.name] + 1
  end
  if task.lost == 0 and task.due <= now and not expired then
    give_up_key(task)
    task.deliveries = task.deliveries + 1
    put(task, RUNNING, at_most(now + lease))
  else
    put(task, LEASED, at_most(math.max(task.due, now) + lease))
  end
  local payload, trace = cmsgpack.unpack(body)
  return { task.id, task.fence, task.name, task.key or false, #payload <= max_payload and payload, trace or false,
    task.due, task.state == RUNNING and 1 or 0, task.attempt, task.deliveries, task.lost, task.schedule or false,
    task.scheduled or 0 }
end

local function delay(time)
  return time < math.huge and time - now or -1
end

local times = {}
for _, one in ipairs(further) do
  append(times, one.name, one.at, one.at <= now and not one.expired and 1 or 0)
end
local reply = { now, paused, delay(later[1]), delay(later[2]), lost, waits and 1 or 0, times, suspects }
for position, id in ipairs(ids) do
  if tasks[id] then
    append(reply, take(tasks[id], chosen[position].expired, found[position]))
  else -- an entry without a task
    append(removed, chosen[position].member)
  end
end
save()
return reply

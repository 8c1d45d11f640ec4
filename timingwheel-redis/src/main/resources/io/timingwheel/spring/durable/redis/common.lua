-- Stands in front of every script. Each gets the three keys of one partition (they all must be named,
-- so that a Cluster refuses the whole script while it moves the slot, not a call in its middle):
--   TASKS    hash, id -> the packed task
--   INDEX    sorted set, all scores 0: its members are ordered by name, section and time (see entry)
--   HOLDERS  hash, name and key -> id of the pending task that has them
-- and as ARGV[1] what to add to the clock, in milliseconds.
local call, sub, packed_as, unpacked_as = redis.call, string.sub, struct.pack, struct.unpack

local TASKS, INDEX, HOLDERS = KEYS[1], KEYS[2], KEYS[3]

local SCHEDULED, LEASED, RUNNING, DEAD = 's', 'l', 'r', 'd' -- states, and sections of the index
local WAITING = 'w' -- a second section for the leased: these are in LEASED by lease, here by due time

local KEYED, FAILED, UNTOUCHED = 1, 2, 4 -- flags: has a key, has an error, leased by its insert and left so
local DONE, SUPERSEDED, REFUSED = 0, 1, 2

local clock = call('TIME')
local micros = clock[1] * 1000000 + clock[2]

local now = math.floor(micros / 1000) + ARGV[1]

local function limited(at)
  return math.min(at, 9e15)
end

local function section(name, letter)
  return string.char(#name) .. name .. letter
end

local function entry(letter, at, task)
  return section(task.name, letter) .. packed_as('>I8', at) .. task.id
end

-- The first entries of a section, or its last ones: a list of { at =, id =, member = }.
local function entries(name, letter, limit, from_the_end)
  local start = section(name, letter)
  local first, last = '[' .. start, '(' .. start .. '\255'
  local members = from_the_end and call('ZREVRANGEBYLEX', INDEX, last, first, 'LIMIT', 0, limit)
      or call('ZRANGEBYLEX', INDEX, first, last, 'LIMIT', 0, limit)
  for i, member in ipairs(members) do
    members[i] = { at = unpacked_as('>I8', member, #start + 1), id = sub(member, #start + 9),
      member = member }
  end
  return members
end

local LAYOUT = '>c1BI8I8I8I4I4I4Bc0Hc0Hc0' -- then the payload

local function unpacked(id, packed)
  local task = { id = id, packed = packed }
  task.state, task.flags, task.fence, task.at, task.due, task.attempt, task.deliveries, task.lost, task.name,
      task.key, task.error, task.tail = unpacked_as(LAYOUT, packed)
  return task
end

local function payload(task)
  return sub(task.packed, task.tail)
end

local function pack(task)
  return packed_as(LAYOUT, task.state, task.flags, task.fence, task.at, task.due, task.attempt, task.deliveries,
      task.lost, #task.name, task.name, #task.key, task.key, #task.error, task.error) .. payload(task)
end

local function has(task, flag)
  return bit.band(task.flags, flag) ~= 0
end

local function set(task, flag, value)
  task.flags = value and bit.bor(task.flags, flag) or bit.band(task.flags, bit.bnot(flag))
end

-- What the script has read and is to write. It writes at the end, in few calls.
local read, changed, deleted, added, removed, holders = {}, {}, {}, {}, {}, {}

local function load(ids)
  for from = 1, #ids, 1000 do -- as many as unpack surely takes
    for i, packed in ipairs(call('HMGET', TASKS, unpack(ids, from, math.min(#ids, from + 999)))) do
      local id = ids[from + i - 1]
      read[id] = packed and unpacked(id, packed) or nil
    end
  end
end

-- The tasks of entries, without those that somebody else has deleted.
local function load_entries(list, limit)
  local ids, tasks = {}, {}
  for i = 1, math.min(limit, #list) do
    ids[i] = list[i].id
  end
  load(ids)
  for i, id in ipairs(ids) do
    if read[id] then
      tasks[#tasks + 1] = read[id]
    else
      removed[#removed + 1] = list[i].member
    end
  end
  return tasks
end

local function find(id)
  if not read[id] then -- or put by this very script
    load({ id })
  end
  return read[id]
end

local function each_entry(task, list)
  if task.state == LEASED then
    list[#list + 1] = entry(WAITING, task.due, task)
  end
  list[#list + 1] = entry(task.state, task.at, task)
end

local function holding(task)
  return section(task.name, '') .. task.key
end

local function holder(key)
  local id = holders[key]
  if id == nil then
    id = call('HGET', HOLDERS, key)
  end
  return id
end

local function hold(task)
  if has(task, KEYED) then
    holders[holding(task)] = task.id
  end
end

local function is_pending(task)
  return task.state == SCHEDULED or task.state == LEASED
end

local function yield_key(task)
  if has(task, KEYED) and is_pending(task) then
    holders[holding(task)] = false
  end
end

-- Changes the state of a task: { state =, at = }, and what else is to be changed.
local function change(task, to)
  each_entry(task, removed)
  set(task, UNTOUCHED, false)
  for field, value in pairs(to) do
    task[field] = value
  end
  each_entry(task, added)
  changed[task.id] = task
end

local function insert(task)
  read[task.id], changed[task.id] = task, task
  each_entry(task, added)
  hold(task)
end

local function delete(task)
  yield_key(task)
  each_entry(task, removed)
  read[task.id], changed[task.id] = nil, nil
  deleted[#deleted + 1] = task.id
end

local function raise_fence(task)
  -- By the time, so that a fence that a failover has lost does not come again.
  task.fence = math.max(task.fence + 1, micros)
end

local function fail(task, error)
  task.error = sub(error, 1, 60000) -- its length has two bytes
  set(task, FAILED, error ~= '')
end

-- Pending again at a time. False, and the task deleted, if a newer one has the key.
local function back(task, to)
  if has(task, KEYED) and not is_pending(task) and holder(holding(task)) then
    delete(task)
    return false
  end
  to.state, to.at = SCHEDULED, to.due or task.due
  change(task, to)
  hold(task)
  return true
end

local function apply(command, key, arguments)
  for from = 1, #arguments, 2000 do -- as many as unpack surely takes, and pairs stay together
    call(command, key, unpack(arguments, from, math.min(#arguments, from + 1999)))
  end
end

local function free()
  local freed = {}
  for key, id in pairs(holders) do
    if not id then
      freed[#freed + 1] = key
    end
  end
  apply('ZREM', INDEX, removed)
  apply('HDEL', TASKS, deleted)
  apply('HDEL', HOLDERS, freed)
end

local function put()
  local members, tasks, held = {}, {}, {}
  for _, member in ipairs(added) do
    members[#members + 1] = 0
    members[#members + 1] = member
  end
  for id, task in pairs(changed) do
    tasks[#tasks + 1] = id
    tasks[#tasks + 1] = pack(task)
  end
  for key, id in pairs(holders) do
    if id then
      held[#held + 1] = key
      held[#held + 1] = id
    end
  end
  apply('HSET', TASKS, tasks)
  apply('ZADD', INDEX, members)
  apply('HSET', HOLDERS, held)
end

-- Writes what was changed. Redis asks for memory at the first write alone, so this goes on when it is full.
local function save()
  free()
  put()
end

-- The pending task with an id, or with a name and key.
local function find_pending(by, value)
  local id = value
  if by == 'key' then
    id = holder(value)
  end
  local task = id and find(id)
  return task and is_pending(task) and task or nil
end

local function due_time(millis, absolute)
  return limited(absolute == '1' and tonumber(millis) or now + millis)
end

-- Where a task stands that is due at a time, for a caller who takes it if that is soon: state, time of the index.
local function placed(due, look_ahead, lease)
  if tonumber(look_ahead) >= 0 and due <= now + look_ahead then
    return LEASED, math.max(due, now) + lease
  end
  return SCHEDULED, due
end

-- Calls a function with each task whose id and fence stand in ARGV, width values for each, from a position on.
-- It is given the task, or nil if it is gone or the fence is not its own, the position, and whether it is gone.
local function each(from, width, reply)
  local ids, replies = {}, {}
  for i = from, #ARGV, width do
    ids[#ids + 1] = ARGV[i]
  end
  load(ids)
  for i = from, #ARGV, width do
    local task = read[ARGV[i]]
    local mine = task and task.fence == tonumber(ARGV[i + 1])
    replies[#replies + 1] = reply(mine and task or nil, i, not task)
  end
  save()
  return replies
end

-- A task as its runner sees it.
local function run_reply(task, found_at, max_payload)
  local text = payload(task)
  return { task.id, task.fence, task.name, has(task, KEYED) and task.key or false,
    #text <= max_payload and text, task.due, task.state == RUNNING and 1 or 0, task.attempt, task.deliveries,
    task.lost, found_at }
end

-- A task as it is shown.
local function shown(task)
  return { task.id, task.name, has(task, KEYED) and task.key or false, task.due, task.state, task.attempt,
    task.deliveries, has(task, FAILED) and task.error or false, task.at }
end

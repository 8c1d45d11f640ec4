-- Every script begins with what it needs of this text. The words are those of the table of states in the description of
-- the package io.timingwheel.spring.durable.store. A script works on one partition, and each call names all of its keys:
--   HEADS    hash        id -> head: what changes in the life of a task, and its name and key
--   BODIES   hash        id -> body: payload and trace
--   INDEX    sorted set  a member for each task: length of the name in one byte, name, section, time in eight bytes, id.
--                        All scores are 0, so Redis orders the members by their bytes
--   HOLDERS  hash        field (see field) -> id of the task that holds the key, or CANCELLED
--   PAUSED   set         the paused names, the same in all partitions
--   STARTS   hash        name with a rate -> when its next start would be due if all starts were spread evenly, in
--                        microseconds
--   NODES    hash        node -> what it reports, see nodes.lua
-- Heads and bodies are values of MessagePack, one after another. Times are milliseconds since the epoch. Some fields:
--   at         the time in INDEX: when a scheduled task is due, when a lease ends, when a dead task died
--   held       ONCE or SCHEDULE: which key the task holds; nil for none
--   first      the time of the first call since the task last began, if a call had a longest wait
--   schedule   the text of the schedule; false if it was cancelled during this run; nil for a task that runs once
--   scheduled  the time of the run by the schedule
local call, sub, byte = redis.call, string.sub, string.byte

local HEADS, BODIES, INDEX, HOLDERS, PAUSED, STARTS, NODES = unpack(KEYS)

local SCHEDULED, LEASED, RUNNING, DEAD = 's', 'l', 'r', 'd' -- states, and sections of INDEX
local SUSPECT = { s = 'u', l = 'v' } -- the sections of suspects that are pending, by their state
local ONCE, SCHEDULE = 'o', 's'
local DECLARED_KEY, CANCELLED = 'recurring', '' -- a declared schedule that was cancelled since it was last stored

local DONE, SUPERSEDED, REFUSED = 0, 1, 2 -- replies to nodes
local INSERTED, REPLACED, PENDING = 0, 1, 2 -- outcomes of enqueue and recur

-- ARGV[1] is empty or, in tests, the time.
local clock = call('TIME')
local micros = ARGV[1] ~= '' and ARGV[1] * 1000 or clock[1] * 1000000 + clock[2]
local now = math.floor(micros / 1000)

-- A double holds all whole numbers up to 9e15.
local function at_most(time)
  return math.min(time, 9e15)
end

local function due_time(millis, absolute)
  return at_most(absolute == '1' and tonumber(millis) or now + millis)
end

local function section(name, letter)
  return string.char(#name) .. name .. letter
end

local function section_of(state, lost)
  return lost > 0 and SUSPECT[state] or state
end

local function index_time(time)
  return struct.pack('>I8', time)
end

local function member(task)
  return section(task.name, task.section) .. index_time(task.at) .. task.id
end

-- The first entries of a section, or the last ones if backwards; with a bound, which is the part of a member after its
-- section, only those behind it.
local function entries(name, letter, limit, bound, backwards)
  local start = section(name, letter)
  local first, last = '[' .. start, '(' .. start .. '\255'
  local from, to = bound and '(' .. start .. bound or backwards and last or first, backwards and first or last
  local found = call(backwards and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX', INDEX, from, to, 'LIMIT', 0, limit)
  for i, text in ipairs(found) do
    found[i] = { at = struct.unpack('>I8', text, #start + 1), id = sub(text, #start + 9), member = text }
  end
  return found
end

local function by_time(one, other)
  return one.at < other.at
end

-- The entries of two sections in the order of their times.
local function merged(found, others)
  for _, one in ipairs(others) do
    found[#found + 1] = one
  end
  if #others > 0 then
    table.sort(found, by_time)
  end
  return found
end

-- How many entries a section has, or has up to a time.
local function count(name, letter, up_to)
  local start = section(name, letter)
  return call('ZLEXCOUNT', INDEX, '[' .. start, '(' .. start .. (up_to and index_time(up_to + 1) or '\255'))
end

-- Calls visit(name) for each name in INDEX, until it returns false.
local function for_each_name(visit)
  local bound = '-'
  while bound do
    local first = call('ZRANGEBYLEX', INDEX, bound, '+', 'LIMIT', 0, 1)[1]
    local name = first and sub(first, 2, 1 + byte(first))
    bound = name and visit(name) ~= false and '(' .. section(name, '\255')
  end
end

local tasks = {} -- those that this script has read or stored, by id

local function load(ids)
  for from = 1, #ids, 2000 do -- unpack takes some thousand values at most
    local heads = call('HMGET', HEADS, unpack(ids, from, math.min(#ids, from + 1999)))
    for i, head in ipairs(heads) do
      if head then
        local state, fence, at, due, attempt, deliveries, lost, name, key, held, error, first, schedule,
            scheduled = cmsgpack.unpack(head)
        local id = ids[from + i - 1]
        tasks[id] = { id = id, state = state, section = section_of(state, lost), fence = fence, at = at, due = due,
          attempt = attempt, deliveries = deliveries, lost = lost, name = name, key = key, held = held, error = error,
          first = first, schedule = schedule, scheduled = scheduled }
      end
    end
  end
end

local function find(id)
  if not tasks[id] then
    load({ id })
  end
  return tasks[id]
end

-- The ids in ARGV from a position on, with a distance of step. Reads their tasks.
local function load_arguments(from, step)
  local ids = {}
  for i = from, #ARGV, step do
    ids[#ids + 1] = ARGV[i]
  end
  load(ids)
  return ids
end

-- The tasks of entries, and their ids.
local function tasks_of(list)
  local ids, found = {}, {}
  for i, one in ipairs(list) do
    ids[i] = one.id
  end
  load(ids)
  for i, id in ipairs(ids) do
    found[i] = tasks[id] or error('the task ' .. id .. ' has lost its head: Redis has evicted it, or somebody has deleted it')
  end
  return found, ids
end

-- The leased tasks of a name, whose due times are only in their heads. Operators do not see those beyond 2,000.
local function leased_tasks(name)
  return tasks_of(merged(entries(name, LEASED, 2000), entries(name, SUSPECT[LEASED], 2000)))
end

local function is_pending(task)
  return task.state == SCHEDULED or task.state == LEASED
end

local function stored_task(task)
  return { task.id, task.name, task.key or false, task.due, task.state, task.attempt, task.deliveries,
    task.error or false, task.at, task.schedule or false, task.scheduled or 0 }
end

local function field(name, kind, key)
  return section(name, kind) .. key
end

local holders = {} -- the changes of HOLDERS: id by field, false for none

-- The id of the task that holds a key as ONCE or SCHEDULE, CANCELLED, or false.
local function holder(name, kind, key)
  local id = holders[field(name, kind, key)]
  if id == nil then
    id = call('HGET', HOLDERS, field(name, kind, key))
  end
  return id
end

-- The task with an id, or the task that a name and key mean: the pending one that runs once, the one with the schedule,
-- or the first of both.
local function target(kind, name_or_id, key)
  local id = kind == 'id' and name_or_id or kind ~= 'schedule' and holder(name_or_id, ONCE, key)
      or kind ~= 'once' and holder(name_or_id, SCHEDULE, key)
  return id and id ~= CANCELLED and find(id) or nil
end

-- A script collects its changes, and writes them at its end.
local heads, bodies, added, removed, gone = {}, {}, {}, {}, {}

local function append(list, one, other, third)
  list[#list + 1] = one
  list[#list + 1] = other
  list[#list + 1] = third
end

-- Raises the fence at least to the time. So no fence comes twice, even after a failover that lost the last writes.
local function raise_fence(task)
  task.fence = math.max(task.fence + 1, micros)
end

local function take_key(task, kind)
  task.held = kind
  holders[field(task.name, kind, task.key)] = task.id
end

local function free_holder(task)
  if task.held then
    holders[field(task.name, task.held, task.key)] = false
    task.held = nil
  end
end

-- A schedule keeps its key.
local function give_up_key(task)
  if task.held == ONCE then
    free_holder(task)
  end
end

local function store_body(task, payload, trace)
  append(bodies, task.id, cmsgpack.pack(payload, trace))
end

local function store_head(task)
  append(heads, task.id, cmsgpack.pack(task.state, task.fence, task.at, task.due, task.attempt, task.deliveries,
      task.lost, task.name, task.key, task.held, task.error, task.first, task.schedule, task.scheduled))
end

-- Stores a task that is new, or has changed, with this state and time.
local function put(task, state, at)
  if task.section then
    append(removed, member(task))
  end
  task.state, task.at, task.section = state, at, section_of(state, task.lost)
  append(added, 0, member(task))
  store_head(task)
  tasks[task.id] = task
end

local function delete(task)
  free_holder(task)
  append(removed, member(task))
  append(gone, task.id)
  tasks[task.id] = nil
end

-- Deletes dead tasks by their entries, without reading them: a dead task holds no key.
local function delete_dead(list)
  for _, one in ipairs(list) do
    append(removed, one.member)
    append(gone, one.id)
  end
end

-- Makes a task scheduled, with its key. Deletes it, and returns false, if another task holds the key, or if this was the
-- last run of a schedule that was cancelled.
local function schedule_again(task, due)
  local keyless = task.key and not task.held
  if task.schedule == false or keyless and holder(task.name, ONCE, task.key) then
    delete(task)
    return false
  elseif keyless then
    take_key(task, ONCE)
  end
  task.due = due
  put(task, SCHEDULED, due)
  return true
end

local function write(command, key, values)
  for from = 1, #values, 2000 do -- an even number keeps pairs together
    call(command, key, unpack(values, from, math.min(#values, from + 1999)))
  end
end

-- Writes all changes. A full Redis refuses a script only if its first write needs memory. The deletions therefore come
-- first, so that the work on stored tasks goes on when Redis is full, or last, so that no task is replaced then.
local function save(additions_first)
  local fields, freed = {}, {}
  for of, id in pairs(holders) do
    append(id and fields or freed, of, id or nil)
  end
  local function add()
    write('HSET', HEADS, heads)
    write('HSET', BODIES, bodies)
    write('ZADD', INDEX, added)
    write('HSET', HOLDERS, fields)
  end
  if additions_first then
    add()
  end
  write('ZREM', INDEX, removed)
  write('HDEL', HEADS, gone)
  write('HDEL', BODIES, gone)
  write('HDEL', HOLDERS, freed)
  if not additions_first then
    add()
  end
  heads, bodies, added, removed, gone, holders = {}, {}, {}, {}, {}, {}
end

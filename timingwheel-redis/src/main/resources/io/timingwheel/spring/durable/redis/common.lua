-- This file is the first part of each script. It describes the data model, and has the
-- functions that several scripts use.
--
-- A script works on one partition, which has three keys in one slot of a Cluster:
--   TASKS    hash        id -> packed task as it was stored (see LAYOUT); head_field -> what has changed since (see
--                        HEAD), so that no change writes the payload again
--   INDEX    sorted set  one member for each task, two while the task is leased (see member); all scores are 0,
--                        so that Redis orders the members by their bytes
--   HOLDERS  hash        name and key -> id of the pending task that has the key (see holder_field);
--                        name and key of a schedule -> id of its task in any state (see schedule_field)
-- Each call names all three keys. While a Cluster moves the slot, the server therefore
-- refuses the whole script.
--
-- The fields of a task:
--   state       SCHEDULED, LEASED, RUNNING or DEAD; a scheduled or leased task is pending
--   flags       KEYED, FAILED, UNTOUCHED, SUSPECT, ALONE, TRACED, RECURRING, ENDED
--   fence       raised by each claim, move and requeue
--   at          the time in INDEX: when a scheduled task is due, when the lease of a leased or running task ends,
--               when a dead task died
--   due         the due time
--   attempt     the number of this attempt, from 1
--   deliveries  how often the task has begun
--   lost        how many of the deliveries were lost with their node
--   error       the text of the last failure if the task has FAILED; in a task that has not begun: the time of the
--               first call, if a call had a longest wait
--   name, key, trace, payload
--   schedule    of a recurring task: the text of its schedule
--   scheduled   of a recurring task: the time of its run by the schedule; later than the due time if the run is an
--               additional one, or if a running task has got another schedule
-- Times are milliseconds since the epoch. ARGV[1] is the offset of the clock in milliseconds,
-- or, in tests with virtual time, '=' and the time itself.
local call, sub, packed_as, unpacked_as = redis.call, string.sub, struct.pack, struct.unpack

local TASKS, INDEX, HOLDERS = KEYS[1], KEYS[2], KEYS[3]

local SCHEDULED, LEASED, RUNNING, DEAD = 's', 'l', 'r', 'd' -- states, and letters in INDEX
local WAITING = 'w' -- the letter of the second member of a leased task, which has the due time
local PENDING_LETTERS = { SCHEDULED, WAITING, 'S', 'W' } -- the letters of the members of pending tasks with due times

-- The flags of a task:
local KEYED = 1 -- has a key; not set for a recurring task, which keeps the key of its schedule in all states
local FAILED = 2 -- has an error
local UNTOUCHED = 4 -- was leased by its enqueue, and has not changed since
local SUSPECT = 8 -- has lost its last delivery, and waits to be tried alone; has capital letters in INDEX
local ALONE = 16 -- was a suspect when it began
local TRACED = 32 -- has the trace of its caller
local RECURRING = 64 -- has a schedule
local ENDED = 128 -- is the last run of a schedule that was cancelled

local DONE, SUPERSEDED, REFUSED = 0, 1, 2 -- replies

local clock = call('TIME')
local micros = clock[1] * 1000000 + clock[2]

local now = sub(ARGV[1], 1, 1) == '=' and tonumber(sub(ARGV[1], 2)) or math.floor(micros / 1000) + ARGV[1]

-- Limits a time to 9e15. A double holds all whole numbers up to this limit.
local function limited(at)
  return math.min(at, 9e15)
end

-- The first bytes of the members of INDEX with this name and letter: length of the name in
-- one byte, name, letter.
local function section(name, letter)
  return string.char(#name) .. name .. letter
end

-- A member of INDEX: section, time in eight bytes, id. Within a section the members are
-- therefore ordered by time.
local function member(letter, at, task)
  return section(task.name, letter) .. packed_as('>I8', at) .. task.id
end

local function entry(name, bytes)
  return { at = unpacked_as('>I8', bytes, #name + 3), id = sub(bytes, #name + 11), member = bytes }
end

-- The first entries of a section, or the last ones if from_the_end: a list of { at =, id =, member = }. With a bound,
-- only the entries after the bound, or before the bound if from_the_end. A bound is the part of a member after its
-- section.
local function entries(name, letter, limit, from_the_end, bound)
  local start = section(name, letter)
  local first, last = '[' .. start, '(' .. start .. '\255'
  if bound and from_the_end then
    last = '(' .. start .. bound
  elseif bound then
    first = '(' .. start .. bound
  end
  local members = from_the_end and call('ZREVRANGEBYLEX', INDEX, last, first, 'LIMIT', 0, limit)
      or call('ZRANGEBYLEX', INDEX, first, last, 'LIMIT', 0, limit)
  for i, bytes in ipairs(members) do
    members[i] = entry(name, bytes)
  end
  return members
end

-- State, flags, fence, at, due, attempt, deliveries, lost, name, key, error. After them comes the trace, if the task
-- is TRACED: its length in one byte, the trace; then the schedule, if it is RECURRING. The payload comes last.
local TO_KEY = '>c1BI8I8I8I4I4I4Bc0Hc0' -- up to the key
local LAYOUT = TO_KEY .. 'Hc0'

local SCHEDULE = '>Bc0I8' -- length of the schedule, schedule, time

-- State, flags, fence, at, due, attempt, deliveries, lost, error.
local HEAD = '>c1BI8I8I8I4I4I4Hc0'

-- The field of TASKS for the head of a task.
local function head_field(id)
  return '+' .. id
end

local function unpacked(id, packed, head)
  local task = { id = id, packed = packed, has_head = head and true }
  task.state, task.flags, task.fence, task.at, task.due, task.attempt, task.deliveries, task.lost, task.name,
      task.key, task.error, task.tail = unpacked_as(LAYOUT, packed)
  if head then
    task.state, task.flags, task.fence, task.at, task.due, task.attempt, task.deliveries, task.lost, task.error =
        unpacked_as(HEAD, head)
  end
  if bit.band(task.flags, TRACED) ~= 0 then
    task.trace, task.tail = unpacked_as('Bc0', packed, task.tail)
  end
  if bit.band(task.flags, RECURRING) ~= 0 then
    task.schedule, task.scheduled, task.tail = unpacked_as(SCHEDULE, packed, task.tail)
  end
  return task
end

local function payload(task)
  return sub(task.packed, task.tail)
end

local function pack(task)
  return packed_as(LAYOUT, task.state, task.flags, task.fence, task.at, task.due, task.attempt, task.deliveries,
      task.lost, #task.name, task.name, #task.key, task.key, #task.error, task.error)
      .. (task.trace and packed_as('Bc0', #task.trace, task.trace) or '')
      .. (task.schedule and packed_as(SCHEDULE, #task.schedule, task.schedule, task.scheduled) or '') .. payload(task)
end

local function pack_head(task)
  return packed_as(HEAD, task.state, task.flags, task.fence, task.at, task.due, task.attempt, task.deliveries,
      task.lost, #task.error, task.error)
end

local function has(task, flag)
  return bit.band(task.flags, flag) ~= 0
end

local function set(task, flag, value)
  task.flags = value and bit.bor(task.flags, flag) or bit.band(task.flags, bit.bnot(flag))
end

-- The tasks that this script has read, by id.
local read = {}

-- The writes of this script. The script makes them at its end, in few calls.
local changed, deleted = {}, {} -- TASKS: task by id, list of ids
local added, removed = {}, {} -- INDEX: lists of members
local holders = {} -- HOLDERS: id by field, false to delete the field

local function load(ids)
  for from = 1, #ids, 500 do -- unpack has a limit of some thousand values
    local fields = {}
    for i = from, math.min(#ids, from + 499) do
      fields[#fields + 1] = ids[i]
      fields[#fields + 1] = head_field(ids[i])
    end
    local values = call('HMGET', TASKS, unpack(fields))
    for i = 1, #values, 2 do
      read[fields[i]] = values[i] and unpacked(fields[i], values[i], values[i + 1]) or nil
    end
  end
end

-- The tasks of the first entries of a list. An entry without a task is removed from INDEX.
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

-- The task with an id, also if this script has inserted it.
local function find(id)
  if not read[id] then
    load({ id })
  end
  return read[id]
end

-- The letter in INDEX of a task with this state. Claims thus read suspects apart from other tasks.
local function letter(task, state)
  return has(task, SUSPECT) and state ~= DEAD and string.upper(state) or state
end

local function append_members(task, list)
  if task.state == LEASED then
    list[#list + 1] = member(letter(task, WAITING), task.due, task)
  end
  list[#list + 1] = member(letter(task, task.state), task.at, task)
end

-- The tasks of the first entries of a list, without those whose entry has another time or letter than the task. Nodes
-- of older releases, which do not know suspects, may have left such an entry. This function replaces the entry, and the
-- next claim finds the task.
local function load_claimable(list, limit, suspect)
  local tasks = load_entries(list, limit)
  local at, claimable = {}, {}
  for _, one in ipairs(list) do
    at[one.id] = one
  end
  for _, task in ipairs(tasks) do
    local one = at[task.id]
    if task.at == one.at and has(task, SUSPECT) == suspect then
      claimable[#claimable + 1] = task
    else
      removed[#removed + 1] = one.member
      append_members(task, added)
    end
  end
  return claimable
end

-- The field of HOLDERS for the key of a task: length of the name in one byte, name, key.
local function holder_field(task)
  return section(task.name, '') .. task.key
end

-- The field of HOLDERS for the schedule with the same name and key as a field for a key. No key begins with this byte.
local function schedule_field(field)
  local name = sub(field, 1, 1 + string.byte(field))
  return name .. '\255' .. sub(field, #name + 1)
end

-- The id of the task that has a field, or false.
local function holder(field)
  local id = holders[field]
  if id == nil then
    id = call('HGET', HOLDERS, field)
  end
  return id
end

local function take_key(task)
  if has(task, KEYED) then
    holders[holder_field(task)] = task.id
  elseif has(task, RECURRING) then
    holders[schedule_field(holder_field(task))] = task.id
  end
end

local function is_pending(task)
  return task.state == SCHEDULED or task.state == LEASED
end

local function give_up_key(task)
  if has(task, KEYED) and is_pending(task) then
    holders[holder_field(task)] = false
  end
end

-- Sets fields of a task, among them state and at, and the flags SUSPECT and ALONE if they are given.
local function change(task, to)
  append_members(task, removed)
  set(task, UNTOUCHED, false)
  if to.suspect ~= nil then
    set(task, SUSPECT, to.suspect)
    set(task, ALONE, to.alone)
  end
  for field, value in pairs(to) do
    task[field] = value
  end
  append_members(task, added)
  changed[task.id] = task
end

local function insert(task)
  task.is_whole = true
  read[task.id], changed[task.id] = task, task
  append_members(task, added)
  take_key(task)
end

-- Ends the schedule of a task. If the task is running, it goes on to its end, and is not tried again.
local function end_schedule(task)
  holders[schedule_field(holder_field(task))] = false
  set(task, RECURRING, false)
  set(task, ENDED, true)
  task.schedule, task.is_whole = nil, true
  changed[task.id] = task
end

local function delete(task)
  give_up_key(task)
  if has(task, RECURRING) then
    end_schedule(task)
  end
  append_members(task, removed)
  read[task.id], changed[task.id] = nil, nil
  deleted[#deleted + 1] = task.id
  if task.has_head then
    deleted[#deleted + 1] = head_field(task.id)
  end
end

-- Raises the fence at least to the current time. So no fence comes twice, even after a
-- failover that lost the last writes.
local function raise_fence(task)
  task.fence = math.max(task.fence + 1, micros)
end

local function set_error(task, error)
  task.error = sub(error, 1, 60000) -- LAYOUT has two bytes for the length
  set(task, FAILED, error ~= '')
end

-- The time of the first call since the task last began, if a call had a longest wait, else nil.
local function first_call(task)
  return task.deliveries == 0 and not has(task, FAILED) and tonumber(task.error) or nil
end

-- Stores the time of the first call as the error, since a task that has not begun has no error. Older releases leave
-- the text as it is.
local function set_first_call(task, time)
  task.error = time and string.format('%.0f', time) or ''
end

-- Makes a task scheduled again, with its key. If a newer pending task has the key, deletes the task and returns false.
local function schedule_again(task, to)
  if has(task, KEYED) and not is_pending(task) and holder(holder_field(task)) then
    delete(task)
    return false
  end
  to.state, to.at = SCHEDULED, to.due or task.due
  change(task, to)
  take_key(task)
  return true
end

local function write(command, key, arguments)
  for from = 1, #arguments, 2000 do -- unpack has a limit of some thousand values; an even step keeps pairs together
    call(command, key, unpack(arguments, from, math.min(#arguments, from + 1999)))
  end
end

local function write_deletions()
  local fields = {}
  for field, id in pairs(holders) do
    if not id then
      fields[#fields + 1] = field
    end
  end
  write('ZREM', INDEX, removed)
  write('HDEL', TASKS, deleted)
  write('HDEL', HOLDERS, fields)
end

local function write_additions()
  local members, tasks, held = {}, {}, {}
  for _, bytes in ipairs(added) do
    members[#members + 1] = 0
    members[#members + 1] = bytes
  end
  for id, task in pairs(changed) do
    if task.is_whole then
      tasks[#tasks + 1] = id
      tasks[#tasks + 1] = pack(task)
    end
    if task.has_head or not task.is_whole then
      tasks[#tasks + 1] = head_field(id)
      tasks[#tasks + 1] = pack_head(task)
    end
  end
  for field, id in pairs(holders) do
    if id then
      held[#held + 1] = field
      held[#held + 1] = id
    end
  end
  write('HSET', TASKS, tasks)
  write('ZADD', INDEX, members)
  write('HSET', HOLDERS, held)
end

-- Writes all changes. A full Redis refuses a script only if its first write needs memory.
-- The deletions therefore come first, so that the work on stored tasks goes on when Redis
-- is full.
local function save()
  write_deletions()
  write_additions()
  changed, deleted, added, removed, holders = {}, {}, {}, {}, {}
end

-- Whether a text comes before another by its bytes, as in INDEX. The operator < depends on the locale of Redis.
local function precedes(one, other)
  for i = 1, math.min(#one, #other) do
    local byte, other_byte = string.byte(one, i), string.byte(other, i)
    if byte ~= other_byte then
      return byte < other_byte
    end
  end
  return #one < #other
end

-- Calls visit(i, first) for each name in ARGV that has an entry in INDEX with this letter or a later one; first is the
-- first such entry. The first name is ARGV[from], each further one follows after width arguments, and they have the
-- order of INDEX. Makes at most two look-ups for each name in INDEX, and one more.
local function for_each_known_name(from, width, letter, visit)
  local i = from
  while i <= #ARGV do
    local first = call('ZRANGEBYLEX', INDEX, '[' .. section(ARGV[i], letter), '+', 'LIMIT', 0, 1)[1]
    if not first then
      return
    end
    local known = sub(first, 1, 1 + string.byte(first))
    while i <= #ARGV and precedes(section(ARGV[i], ''), known) do
      i = i + width
    end
    if i <= #ARGV and section(ARGV[i], '') == known and string.byte(first, #known + 1) >= string.byte(letter) then
      visit(i, first)
      i = i + width
    end
  end
end

-- The first entries of a name with these letters, which have the order of INDEX: entry by letter. The argument first is
-- the first member with the first letter or a later one.
local function first_entries(name, letters, first)
  local found = {}
  for _, letter in ipairs(letters) do
    if first and string.byte(first, #name + 2) < string.byte(letter) then
      first = call('ZRANGEBYLEX', INDEX, '[' .. section(name, letter), '(' .. section(name, '\255'), 'LIMIT', 0, 1)[1]
    end
    if first and sub(first, #name + 2, #name + 2) == letter then
      found[letter] = entry(name, first)
    end
  end
  return found
end

-- Calls visit(name) for each name in INDEX, until it returns false.
local function for_each_name(visit)
  local first = call('ZRANGEBYLEX', INDEX, '-', '+', 'LIMIT', 0, 1)[1]
  while first do
    local name = sub(first, 2, 1 + string.byte(first))
    if visit(name) == false then
      return
    end
    first = call('ZRANGEBYLEX', INDEX, '(' .. section(name, '\255'), '+', 'LIMIT', 0, 1)[1]
  end
end

-- The number of entries in a section, or of those up to a time.
local function count(name, letter, up_to)
  local start = section(name, letter)
  local last = start .. (up_to and packed_as('>I8', up_to + 1) or '\255')
  return call('ZLEXCOUNT', INDEX, '[' .. start, '(' .. last)
end

-- Deletes dead tasks by their entries, without reading them: a dead task has one entry and no key.
local function delete_dead(list)
  for _, one in ipairs(list) do
    removed[#removed + 1] = one.member
    deleted[#deleted + 1] = one.id
    deleted[#deleted + 1] = head_field(one.id)
  end
end

-- The pending task with an id ('id') or with a name and key ('key').
local function find_pending(by, value)
  local id = value
  if by == 'key' then
    id = holder(value)
  end
  local task = id and find(id)
  return task and is_pending(task) and task or nil
end

-- The task with a schedule that has an id ('id') or a name and key ('key').
local function find_recurring(by, value)
  local id = by == 'id' and value or holder(schedule_field(value))
  local task = id and find(id)
  return task and has(task, RECURRING) and task or nil
end

-- The key as callers see it.
local function key_of(task)
  return (has(task, KEYED) or has(task, RECURRING) or has(task, ENDED)) and task.key or false
end

-- The key of a packed task as callers see it. The head of a task changes neither the key nor whether there is one.
local function packed_key(packed)
  local _, flags, _, _, _, _, _, _, _, key = unpacked_as(TO_KEY, packed)
  return key_of({ flags = flags, key = key })
end

-- How many running tasks of a name each key has, and how many running tasks of the name have keys. Counts only the
-- entries for which counts(entry, letter) is true. A suspect that a node has leased counts as running. There may be many
-- running tasks, so this function unpacks no more of them than their keys.
local function busy_keys(name, counts)
  local keys, sum = {}, 0
  for _, letter in ipairs({ RUNNING, string.upper(LEASED), string.upper(RUNNING) }) do
    local ids = {}
    for _, one in ipairs(entries(name, letter, 10000)) do
      if counts(one, letter) then
        ids[#ids + 1] = one.id
      end
    end
    for from = 1, #ids, 500 do -- unpack has a limit of some thousand values
      for _, packed in ipairs(call('HMGET', TASKS, unpack(ids, from, math.min(#ids, from + 499)))) do
        local key = packed and packed_key(packed)
        if key then
          keys[key] = (keys[key] or 0) + 1
          sum = sum + 1
        end
      end
    end
  end
  return keys, sum
end

-- The field for the microseconds that were given back of the starts of a name. No name begins with this byte.
local function given_back_field(name)
  return '\255' .. name
end

-- The next start of a name, and the sum of what was given back, in microseconds.
local function next_start_of(limits, name)
  local values = call('HMGET', limits, name, given_back_field(name))
  return tonumber(values[1] or 0), tonumber(values[2] or 0)
end

local function due_time(millis, absolute)
  return limited(absolute == '1' and tonumber(millis) or now + millis)
end

-- When a lease ends: after a duration from now or, after '=', at a time.
local function lease_end(lease)
  return sub(lease, 1, 1) == '=' and tonumber(sub(lease, 2)) or now + lease
end

-- State and at of a task with this due time: leased if the task is due within look_ahead, else scheduled.
local function placed(due, look_ahead, lease)
  if tonumber(look_ahead) >= 0 and due <= now + look_ahead then
    return LEASED, math.max(due, now) + lease
  end
  return SCHEDULED, due
end

-- Loads the tasks in ARGV, and returns their ids. The arguments of the first task begin at ARGV[from] with its id. Each
-- task has width arguments.
local function load_arguments(from, width)
  local ids = {}
  for i = from, #ARGV, width do
    ids[#ids + 1] = ARGV[i]
  end
  load(ids)
  return ids
end

-- Calls transition(task, i, gone) for each task in ARGV, saves, and returns the replies. The arguments of the first
-- task begin at ARGV[from]. Each task has width arguments: id, fence, and others. The task is nil if it is gone or
-- has another fence.
local function for_each(from, width, transition)
  local replies = {}
  load_arguments(from, width)
  for i = from, #ARGV, width do
    local task = read[ARGV[i]]
    local fenced = task and task.fence == tonumber(ARGV[i + 1])
    replies[#replies + 1] = transition(fenced and task or nil, i, not task)
  end
  save()
  return replies
end

-- The order of a claim.
local function by_time(one, other)
  return one.at < other.at
end

-- Makes suspects of running tasks whose leases have ended, by their entries. Returns the earliest of their times,
-- math.huge if there are none.
local function make_suspects(list)
  local earliest = math.huge
  for _, task in ipairs(load_claimable(list, #list, false)) do
    earliest = math.min(earliest, task.at)
    raise_fence(task)
    change(task, { lost = task.lost + (has(task, ALONE) and 1 or 0), suspect = true, alone = false })
  end
  return earliest
end

-- The times of entries that a claim could give too, each followed by the number of its name.
local function times_of(list)
  local times = {}
  for _, one in ipairs(list) do
    times[#times + 1] = one.at
    times[#times + 1] = one.number or 0
  end
  return times
end

-- A task for ScriptReply.leasedTask. found_at is the time in INDEX before the claim.
local function leased_task(task, found_at, max_payload)
  local text = payload(task)
  local has_begun = task.state == RUNNING and not has(task, SUSPECT)
  return { task.id, task.fence, task.name, key_of(task), #text <= max_payload and text, task.trace or false, task.due,
    has_begun and 1 or 0, task.attempt, task.deliveries, task.lost, has(task, SUSPECT) and 1 or 0, found_at,
    task.schedule or false, task.scheduled or 0 }
end

-- A task for ScriptReply.storedTask.
local function stored_task(task)
  return { task.id, task.name, key_of(task), task.due, task.state, task.attempt, task.deliveries,
    has(task, FAILED) and task.error or false, task.at, task.schedule or false, task.scheduled or 0 }
end

-- scheduled and due, or leased with an ended lease -> running; running with an ended lease -> running suspect that no
-- node has; of one name
-- ARGV: offset, name, limit, the number of further tasks whose due times (for leased tasks: the ends of their leases) to
-- return, lease (or its end), how many tasks of a key may run (0: any number), largest payload
-- Returns what claim returns
local name, limit, max_further = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local ends, per_key = lease_end(ARGV[5]), tonumber(ARGV[6])
local MAX_ENDED = 1000

if ends <= now then -- the caller has no places any more, so no task may begin
  limit, max_further = 0, 0
end

-- A task whose run was lost counts for its key until its next run has ended.
local keys, count = {}, 0
if per_key > 0 then
  keys, count = busy_keys(name, function() return true end)
end

-- Finds enough tasks that are due. Some of these tasks may have to wait for running tasks with their keys. A key has at
-- most two pending tasks, of which one has a schedule. So at most twice as many tasks wait as there are running tasks
-- with keys.
local found = {}
for _, state in ipairs({ SCHEDULED, LEASED }) do
  local list = entries(name, state, 1)
  if list[1] and list[1].at <= now then
    list = entries(name, state, limit + max_further + 2 * count + 1)
  end
  for _, one in ipairs(list) do
    if one.at <= now then
      found[#found + 1] = one
    end
  end
end
table.sort(found, by_time)
if per_key > 0 then
  load_entries(found, #found)
end

local chosen, more = {}, {}
for _, one in ipairs(found) do
  local task = per_key > 0 and read[one.id]
  local key = task and key_of(task)
  if not (key and (keys[key] or 0) >= per_key) then
    if #chosen < limit then
      chosen[#chosen + 1] = one
      if key then
        keys[key] = (keys[key] or 0) + 1
      end
    elseif #more < max_further then
      more[#more + 1] = one
    end
  end
end

local running = entries(name, RUNNING, 1)
if running[1] and running[1].at <= now then
  running = entries(name, RUNNING, MAX_ENDED)
end
local ended = {}
for _, one in ipairs(running) do
  if one.at <= now then
    ended[#ended + 1] = one
  end
end

local later = make_suspects(ended)
local reply = { now, later < math.huge and later or -1, times_of(more) }
for _, task in ipairs(load_claimable(chosen, limit, false)) do
  local found_at = task.at
  give_up_key(task)
  raise_fence(task)
  change(task, { state = RUNNING, at = ends, deliveries = task.deliveries + 1 })
  reply[#reply + 1] = leased_task(task, found_at, tonumber(ARGV[7]))
end
save()
return reply

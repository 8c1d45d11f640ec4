-- needs: model, clock, lease_end, entries, busy_keys, sort_by_time, make_suspects, times_of, load_claimable,
-- needs: raise_fence, give_up_key, change, leased_task, save
-- scheduled and due, or leased with an ended lease -> running; running with an ended lease -> running suspect that no
-- node has; of one name
-- ARGV: offset, name, limit, the number of further tasks whose due times (for leased tasks: the ends of their leases) to
-- return, lease (or its end), how many tasks of a key may run (0: any number), largest payload, the last time at which
-- tasks may begin
-- Returns what claim returns
local name, limit, max_further = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local ends, per_key = lease_end(ARGV[5]), tonumber(ARGV[6])
local MAX_ENDED = 1000

if ends <= now or now > tonumber(ARGV[8]) then -- the caller has no places or starts any more, so no task may begin
  limit, max_further = 0, 0
end

local due = {} -- the states that have tasks which are due
for _, state in ipairs({ SCHEDULED, LEASED }) do
  local first = entries(name, state, 1)[1]
  if first and first.at <= now then
    due[#due + 1] = state
  end
end

-- A task whose run was lost counts for its key until its next run has ended.
local keys, count = {}, 0
if per_key > 0 and #due > 0 and limit + max_further > 0 then
  keys, count = busy_keys(name, function() return true end)
end

-- The first tasks that are due.
local function first_due(size)
  local found = {}
  for _, state in ipairs(due) do
    for _, one in ipairs(entries(name, state, size)) do
      if one.at <= now then
        found[#found + 1] = one
      end
    end
  end
  sort_by_time(found)
  for i = #found, size + 1, -1 do
    found[i] = nil
  end
  if per_key > 0 then
    load_entries(found, #found)
  end
  return found
end

-- Chooses tasks to begin, and further ones, without those that wait for running tasks with their keys.
local function choose(found)
  local chosen, more, taken = {}, {}, {}
  for _, one in ipairs(found) do
    local task = per_key > 0 and read[one.id]
    local key = task and key_of(task)
    if not (key and (keys[key] or 0) + (taken[key] or 0) >= per_key) then
      if #chosen < limit then
        chosen[#chosen + 1] = one
        if key then
          taken[key] = (taken[key] or 0) + 1
        end
      elseif #more < max_further then
        more[#more + 1] = one
      end
    end
  end
  return chosen, more
end

-- If too many of the first tasks wait for their keys, looks at more tasks. A key has at most two pending tasks, of which
-- one has a schedule. So at most twice as many tasks wait as there are running tasks with keys, and one for each chosen
-- task.
local size = limit + max_further + 1
local most = 2 * (size + count)
local found = first_due(size)
local chosen, more = choose(found)
while #chosen + #more < limit + max_further and #found == size and size < most do
  size = math.min(most, 4 * size)
  found = first_due(size)
  chosen, more = choose(found)
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
  take_out(task)
  task.deliveries = task.deliveries + 1
  put_in(task, RUNNING, ends)
  reply[#reply + 1] = leased_task(task, found_at, tonumber(ARGV[7]))
end
save()
return reply

-- needs: model, clock, lease_end, known_names, entries, busy_keys, sort_by_time, load_claimable, raise_fence,
-- needs: change, leased_task, save
-- scheduled and due suspect, or leased suspect with an ended lease -> leased; running suspect that no node has, or with
-- an ended lease -> running suspect; at most one. A suspect begins in a later step of its node, so no time limits here
-- how long after its start was taken
-- ARGV: offset, '1' to lease the suspect, lease (or its end), largest payload, how many tasks of a key may run (0: any
-- number; if not 0, there is one name), names in the order of INDEX...
-- Returns: now, the time of the first suspect (-1 for none), the task if it was leased
local per_key = tonumber(ARGV[5])
local found, same_key = {}, {}
local LETTERS = { string.upper(LEASED), string.upper(RUNNING), string.upper(SCHEDULED) } -- in the order of INDEX
local MAX_SUSPECTS = 1000

local function find_first()
  for_each_known_name(6, 1, LETTERS[1], function(i, first)
    for _, one in pairs(first_entries(ARGV[i], LETTERS, first)) do
      if one.at <= now and (not found[1] or one.at < found[1].at) then
        found[1] = one
      end
    end
  end)
end

-- Leaves out the suspects that have to wait for other tasks with their keys. Lost runs of a key do not wait for each
-- other: only those tasks count that a node has.
local function find_first_with_free_key(name)
  local keys = busy_keys(name, function(one, letter) return one.at > now or letter == RUNNING end)
  local suspects = {}
  for _, letter in ipairs(LETTERS) do
    for _, one in ipairs(entries(name, letter, MAX_SUSPECTS)) do
      if one.at <= now then
        suspects[#suspects + 1] = one
      end
    end
  end
  sort_by_time(suspects)
  load_entries(suspects, #suspects)
  local chosen
  for _, one in ipairs(suspects) do
    local task = read[one.id]
    local key = task and key_of(task)
    if found[1] and key and key == chosen then
      same_key[#same_key + 1] = task
    elseif task and not found[1] and not (key and (keys[key] or 0) >= per_key) then
      found[1], chosen = one, key
    end
  end
end

if per_key > 0 then
  find_first_with_free_key(ARGV[6])
else
  find_first()
end

local reply = { now, found[1] and found[1].at or -1 }
if ARGV[2] == '1' then
  for _, task in ipairs(load_claimable(found, 1, true)) do
    local found_at = task.at
    raise_fence(task)
    take_out(task)
    put_in(task, task.state == RUNNING and RUNNING or LEASED, lease_end(ARGV[3]) + math.max(0, task.due - now))
    reply[3] = leased_task(task, found_at, tonumber(ARGV[4]))
  end
  for _, task in ipairs(same_key) do -- a node whose lease of this suspect has ended must not begin it now
    raise_fence(task)
    take_out(task)
    put_in(task, task.state, task.at)
  end
  save()
end
return reply

-- needs: model, clock, known_names, entries, sort_by_time, make_suspects, times_of, load_claimable, raise_fence,
-- needs: give_up_key, change, leased_task, save
-- scheduled and due within the look-ahead, or leased with an ended lease -> leased, or running if due now;
-- running with an ended lease -> running suspect that no node has
-- ARGV: offset, limit, the number of further tasks of each name whose due times (for leased tasks: the ends of their
-- leases) to return, look-ahead, lease, largest payload,
-- then for each name, in the order of INDEX: name, limit of the tasks that are due, limit of those that are due soon
-- Returns: now, the earliest time of the tasks that cannot be claimed yet and of the new suspects (-1 for none), a list
-- of the earliest times of the tasks that could be claimed too (each followed by the number of its name), tasks...
local limit, max_further = tonumber(ARGV[2]), tonumber(ARGV[3])
local ahead, lease, max_payload = now + ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local chosen, lost, more, later = {}, {}, {}, math.huge

-- The entries of a section up to a time; first is the first entry of the section, or nil.
local function up_to(time, name, state, first, max)
  if not first then
    return {}
  elseif first.at > time then
    later = math.min(later, first.at)
    return {}
  end
  local claimable = {}
  for _, one in ipairs(entries(name, state, max)) do
    if one.at > time then
      later = math.min(later, one.at)
      break
    end
    claimable[#claimable + 1] = one
  end
  return claimable
end

local STATES = { LEASED, RUNNING, SCHEDULED } -- in the order of INDEX

local function choose(number, name, due, soon, first)
  local max = due + soon + max_further + 1
  local firsts = first_entries(name, STATES, first)
  local found = up_to(ahead, name, SCHEDULED, firsts[SCHEDULED], max)
  for _, one in ipairs(up_to(now, name, LEASED, firsts[LEASED], max)) do
    found[#found + 1] = one
  end
  for _, one in ipairs(up_to(now, name, RUNNING, firsts[RUNNING], max)) do
    lost[#lost + 1] = one
  end
  sort_by_time(found)
  local left = max_further
  for _, one in ipairs(found) do
    one.number = number
    if one.at <= now and due > 0 then
      due = due - 1
      chosen[#chosen + 1] = one
    elseif one.at > now and soon > 0 then
      soon = soon - 1
      chosen[#chosen + 1] = one
    elseif left > 0 then
      left = left - 1
      more[#more + 1] = one
    end
  end
end

for_each_known_name(7, 3, STATES[1], function(i, first)
  choose((i - 7) / 3, ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), first)
end)

sort_by_time(chosen)
for i = limit + 1, math.min(limit + max_further, #chosen) do
  more[#more + 1] = chosen[i]
end
later = math.min(later, make_suspects(lost))
local reply = { now, later < math.huge and later or -1, times_of(more) }
for _, task in ipairs(load_claimable(chosen, limit, false)) do
  local found_at = task.at
  raise_fence(task)
  take_out(task)
  if task.due <= now then
    give_up_key(task)
    task.deliveries = task.deliveries + 1
    put_in(task, RUNNING, now + lease)
  else
    put_in(task, LEASED, task.due + lease)
  end
  reply[#reply + 1] = leased_task(task, found_at, max_payload)
end
save()
return reply

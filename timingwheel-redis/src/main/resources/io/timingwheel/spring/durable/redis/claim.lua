-- scheduled and due within the look-ahead, or leased or running with an ended lease -> leased, or running if due now
-- ARGV: offset, limit, how many further times to return, look-ahead, lease, largest
-- payload, names...
-- Returns: now, the earliest time of the tasks that cannot be claimed yet (-1 for none), a list of the earliest times
-- of the tasks that could be claimed too, tasks...
local limit, told = tonumber(ARGV[2]), tonumber(ARGV[3])
local lease = tonumber(ARGV[5])
local bounds = { { SCHEDULED, now + ARGV[4] }, { LEASED, now }, { RUNNING, now } }
local due, later = {}, math.huge

for i = 7, #ARGV do
  for _, bound in ipairs(bounds) do
    local found = entries(ARGV[i], bound[1], 1)
    if found[1] and found[1].at <= bound[2] then
      found = entries(ARGV[i], bound[1], limit + told + 1)
    end
    for _, one in ipairs(found) do
      if one.at > bound[2] then
        later = math.min(later, one.at)
        break
      end
      due[#due + 1] = one
    end
  end
end

table.sort(due, function(one, other)
  return one.at < other.at
end)
local more = {}
for i = limit + 1, math.min(limit + told, #due) do
  more[#more + 1] = due[i].at
end
local reply = { now, later < math.huge and later or -1, more }
for _, task in ipairs(load_entries(due, limit)) do
  local found_at = task.at
  local to = { state = LEASED, at = task.due + lease }
  if task.due <= now then
    to = { state = RUNNING, at = now + lease, deliveries = task.deliveries + 1 }
    if task.state == RUNNING then
      to.lost = task.lost + 1
    end
    give_up_key(task)
  end
  raise_fence(task)
  change(task, to)
  reply[#reply + 1] = leased_task(task, found_at, tonumber(ARGV[6]))
end
save()
return reply

-- ARGV: clock, then for each task: id, name, '1' if it has a key, key, payload, trace or nothing, due time or delay, '1'
-- if a due time, what to do if the key is pending, longest wait or nothing
-- Returns, for each task: outcome, id, due, now
local WIDTH = 10

local function enqueue(i)
  if tasks[ARGV[i]] then -- the call was sent twice
    return INSERTED, tasks[ARGV[i]]
  end
  local trace, if_pending, max_wait = ARGV[i + 5], ARGV[i + 8], tonumber(ARGV[i + 9])
  local task = { id = ARGV[i], fence = micros, attempt = 1, deliveries = 0, lost = 0, name = ARGV[i + 1],
    due = due_time(ARGV[i + 6], ARGV[i + 7]), first = max_wait and now }
  local other
  if ARGV[i + 2] == '1' then
    task.key = ARGV[i + 3]
    other = target('once', task.name, task.key)
    if other and if_pending ~= 'REPLACE' and if_pending ~= 'UPDATE' then
      return PENDING, other
    elseif other then
      task.first = other.first or task.first
      delete(other)
    end
    take_key(task, ONCE)
  end
  if other and if_pending == 'UPDATE' then
    task.due = other.due
  elseif max_wait then
    task.due = math.min(task.due, at_most(task.first + max_wait))
  end
  store_body(task, ARGV[i + 4], trace ~= '' and trace or nil)
  put(task, SCHEDULED, task.due)
  return other and REPLACED or INSERTED, task
end

load_arguments(2, WIDTH)
local reply = {}
for i = 2, #ARGV, WIDTH do
  local outcome, task = enqueue(i)
  append(reply, outcome, task.id, task.due)
  append(reply, now)
end
save(true)
return reply

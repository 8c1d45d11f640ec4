-- ARGV: offset, id, name, '1' if it has a key, key, payload, millis, '1' if absolute, if pending, look-ahead, lease
-- Returns: outcome, id, fence, due, now, 1 if leased
local INSERTED, REPLACED, PENDING = 0, 1, 2
local same = find(ARGV[2])
if same then
  return { INSERTED, same.id, same.fence, same.due, now, has(same, UNTOUCHED) and 1 or 0 }
end
local task = { id = ARGV[2], flags = 0, fence = micros, attempt = 1, deliveries = 0, lost = 0, name = ARGV[3],
  key = ARGV[5], error = '', packed = ARGV[6], tail = 1 }
set(task, KEYED, ARGV[4] == '1')
local outcome = INSERTED
local other = has(task, KEYED) and find_pending('key', holding(task))
if other then
  if ARGV[9] ~= 'REPLACE' then
    return { PENDING, other.id, other.fence, other.due, now, 0 }
  end
  outcome = REPLACED
  delete(other)
end
task.due = due_time(ARGV[7], ARGV[8])
task.state, task.at = placed(task.due, ARGV[10], ARGV[11])
set(task, UNTOUCHED, task.state == LEASED)
insert(task)
put() -- before anything is deleted: a full Redis refuses the first write
free()
return { outcome, task.id, task.fence, task.due, now, task.state == LEASED and 1 or 0 }

-- needs: model, clock, due_time, set, find_recurring, insert, delete, store_whole, payload, is_pending, save
-- no schedule has the name and key -> scheduled; another schedule, pending -> deleted, and the new one scheduled (an
-- overdue run stays due, at its time by its schedule, unless the first run of the new one is due too and stands for it);
-- the same schedule, pending -> as it was, with the new payload; running -> running, with the new schedule and payload
-- ARGV: offset, id, name, key, payload, trace or nothing, schedule, first time or delay, '1' if a time, '1' to change
-- nothing if a task has the schedule, or it was cancelled
-- Returns: outcome, id, fence, due, now; nothing if nothing was changed
local INSERTED, REPLACED, KEPT = 0, 1, 2
local first = due_time(ARGV[8], ARGV[9])
local task = { id = ARGV[2], flags = RECURRING, state = SCHEDULED, fence = micros, at = first, due = first,
  attempt = 1, deliveries = 0, lost = 0, name = ARGV[3], key = ARGV[4], error = '', packed = ARGV[5], tail = 1,
  schedule = ARGV[7], scheduled = first }
if ARGV[6] ~= '' then
  task.trace = ARGV[6]
  set(task, TRACED, true)
end
local field = schedule_field(holder_field(task))
if ARGV[10] == '1' and holder(field) then
  return false
end
local current = find_recurring('key', holder_field(task))
local outcome = INSERTED
if not current then
  insert(task)
  holders[field] = task.id
elseif current.id == task.id then -- the call was sent twice
  task = current
else
  local same, same_payload = current.schedule == task.schedule, payload(current) == ARGV[5]
  outcome = same and KEPT or REPLACED
  if is_pending(current) and not (same and same_payload) then
    if same then
      task.at, task.due, task.scheduled, task.attempt = current.due, current.due, current.scheduled, current.attempt
    elseif current.due <= now and first > now then
      task.due = math.min(current.due, current.scheduled)
      task.at = task.due
    end
    delete(current)
    insert(task)
    holders[field] = task.id
  else
    if not (same and same_payload) then -- a full Redis would refuse to write what it has already
      if not same then
        current.schedule, current.scheduled = task.schedule, first
      end
      current.packed, current.tail = ARGV[5], 1
      store_whole(current)
    end
    task = current
  end
end
save()
return { outcome, task.id, task.fence, (is_pending(task) or outcome == KEPT) and task.due or task.scheduled, now }

-- A run that is overdue stays due, unless the first run of the new schedule is due too.
-- ARGV: clock, id, name, key, payload, schedule, first time or delay, '1' if a time, '1' to store the schedule only if it
-- was lost
-- Returns: outcome, id, due, now
local id, name, key, payload, schedule = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local first = due_time(ARGV[7], ARGV[8])
local current = target('schedule', name, key)
if ARGV[9] == '1' and (current or holder(name, SCHEDULE, key)) then
  return { PENDING, current and current.id or '', current and current.due or first, now }
elseif current and current.id == id then -- the call was sent twice
  return { INSERTED, id, current.due, now }
end

local task = { id = id, fence = micros, due = first, attempt = 1, deliveries = 0, lost = 0, name = name, key = key,
  schedule = schedule, scheduled = first }
local outcome = INSERTED
if current then
  local same = current.schedule == schedule
  local same_payload = cmsgpack.unpack(call('HGET', BODIES, current.id)) == payload
  outcome = same and PENDING or REPLACED
  if same and same_payload then -- a full Redis would refuse to write what it has already
    return { outcome, current.id, current.due, now }
  elseif not is_pending(current) then
    if not same then
      current.schedule, current.scheduled = schedule, first
    end
    store_body(current, payload)
    store_head(current)
    save()
    return { outcome, current.id, same and current.due or current.scheduled, now }
  end
  if same then
    task.due, task.scheduled, task.attempt = current.due, current.scheduled, current.attempt
  elseif current.due <= now and first > now then
    task.due = math.min(current.due, current.scheduled) -- the time of the run, not of its later attempt
  end
  delete(current)
end
take_key(task, SCHEDULE)
store_body(task, payload)
put(task, SCHEDULED, task.due)
save()
return { outcome, id, task.due, now }

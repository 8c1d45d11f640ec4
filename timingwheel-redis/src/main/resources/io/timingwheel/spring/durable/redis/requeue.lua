-- ARGV: offset, id
-- Returns: what has become of it
local REQUEUED, NOT_DEAD, KEY_PENDING = 0, 1, 2
local task = find(ARGV[2])
if not task or task.state ~= DEAD then
  return NOT_DEAD
end
if has(task, KEYED) and holder(holding(task)) then
  return KEY_PENDING
end
raise_fence(task)
fail(task, '')
back(task, { due = now, attempt = 1, deliveries = 0, lost = 0 })
save()
return REQUEUED

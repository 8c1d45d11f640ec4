-- needs: model, clock, entries, load_claimable, raise_fence, change, leased_task, save
-- scheduled and too late to start -> leased; of one name
-- ARGV: offset, name, limit, by how much a task may be late, lease, largest payload
-- Returns: now, tasks...
local name, limit = ARGV[2], tonumber(ARGV[3])
local before = now - ARGV[4]
local found = {}
for _, one in ipairs(entries(name, SCHEDULED, limit)) do
  if one.at < before then
    found[#found + 1] = one
  end
end

local reply = { now }
for _, task in ipairs(load_claimable(found, limit, false)) do
  local found_at = task.at
  raise_fence(task)
  take_out(task)
  put_in(task, LEASED, now + ARGV[5])
  reply[#reply + 1] = leased_task(task, found_at, tonumber(ARGV[6]))
end
save()
return reply

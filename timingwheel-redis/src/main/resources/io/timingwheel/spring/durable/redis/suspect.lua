-- scheduled and due suspect, or leased suspect with an ended lease -> leased; running suspect that no node has, or with
-- an ended lease -> running suspect; at most one
-- ARGV: offset, '1' to lease it, lease (or its end), largest payload, names in the order of INDEX...
-- Returns: now, the time of the first suspect (-1 for none), the task if it was leased
local found = {}
local LETTERS = { string.upper(LEASED), string.upper(RUNNING), string.upper(SCHEDULED) } -- in the order of INDEX
for_each_known_name(5, 1, LETTERS[1], function(i, first)
  for _, one in pairs(first_entries(ARGV[i], LETTERS, first)) do
    if one.at <= now and (not found[1] or one.at < found[1].at) then
      found[1] = one
    end
  end
end)
local reply = { now, found[1] and found[1].at or -1 }
if ARGV[2] == '1' then
  for _, task in ipairs(load_claimable(found, 1, true)) do
    local found_at = task.at
    raise_fence(task)
    change(task, { state = task.state == RUNNING and RUNNING or LEASED, at = lease_end(ARGV[3]) + math.max(0, task.due - now) })
    reply[3] = leased_task(task, found_at, tonumber(ARGV[4]))
  end
  save()
end
return reply

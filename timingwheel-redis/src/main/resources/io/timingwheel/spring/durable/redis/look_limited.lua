-- Looks at the first tasks of limited names, without a change.
-- ARGV: offset, names...
-- Returns: now, then for each name: when the first task is due that is due, when the lease of a running task has ended,
-- when the first suspect is due that is due, when the next of its tasks is due or its lease ends (-1 for none)
local reply = { now }
for i = 2, #ARGV do
  local due, ended, suspect, later = -1, -1, -1, math.huge
  for _, state in ipairs({ SCHEDULED, LEASED, RUNNING, 'S', 'L', 'R' }) do
    local one = entries(ARGV[i], state, 1)[1]
    if one and one.at > now then
      later = math.min(later, one.at)
    elseif one and state == string.upper(state) then
      suspect = suspect < 0 and one.at or math.min(suspect, one.at)
    elseif one and state == RUNNING then
      ended = one.at
    elseif one then
      due = due < 0 and one.at or math.min(due, one.at)
    end
  end
  if due >= 0 then -- the next one that is not due yet comes behind those that are
    local start = section(ARGV[i], SCHEDULED)
    local next = call('ZRANGEBYLEX', INDEX, '[' .. start .. packed_as('>I8', now + 1), '(' .. start .. '\255', 'LIMIT', 0, 1)[1]
    later = next and math.min(later, unpacked_as('>I8', next, #start + 1)) or later
  end
  reply[#reply + 1] = due
  reply[#reply + 1] = ended
  reply[#reply + 1] = suspect
  reply[#reply + 1] = later < math.huge and later or -1
end
return reply

-- needs: model, clock, entries
-- Looks at the first tasks of limited names, without a change.
-- ARGV: offset, names...
-- Returns: now, then four times for each name (-1 for none): the time of the first task that may start now, the end of
-- the first lease of a running task if this lease has ended, the time of the first suspect that may start now, the
-- earliest time of the other tasks
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
  if due >= 0 then -- the first scheduled task that is not due yet comes after those that are due
    local next = entries(ARGV[i], SCHEDULED, 1, false, packed_as('>I8', now + 1))[1]
    later = next and math.min(later, next.at) or later
  end
  reply[#reply + 1] = due
  reply[#reply + 1] = ended
  reply[#reply + 1] = suspect
  reply[#reply + 1] = later < math.huge and later or -1
end
return reply

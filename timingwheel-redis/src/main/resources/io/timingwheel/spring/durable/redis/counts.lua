-- Counts the tasks of each name in INDEX, without reading the tasks.
-- ARGV: offset
-- Returns, for each name: name, pending, overdue, running, dead

local function count_pending(name, up_to)
  local pending = 0
  for _, letter in ipairs({ SCHEDULED, WAITING, 'S', 'W' }) do
    pending = pending + count(name, letter, up_to)
  end
  return pending
end

local reply = {}
for_each_name(function(name)
  reply[#reply + 1] = name
  reply[#reply + 1] = count_pending(name)
  reply[#reply + 1] = count_pending(name, now)
  reply[#reply + 1] = count(name, RUNNING) + count(name, 'R')
  reply[#reply + 1] = count(name, DEAD)
end)
return reply

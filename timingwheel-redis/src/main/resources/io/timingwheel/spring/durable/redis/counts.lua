-- Counts the tasks of each name in INDEX, without reading the tasks.
-- ARGV: offset
-- Returns, for each name: name, pending, overdue, running, dead

local function count(name, letter, up_to)
  local start = section(name, letter)
  local last = start .. (up_to and struct.pack('>I8', up_to + 1) or '\255')
  return call('ZLEXCOUNT', INDEX, '[' .. start, '(' .. last)
end

local reply = {}
local first = call('ZRANGEBYLEX', INDEX, '-', '+', 'LIMIT', 0, 1)[1]
while first do
  local name = sub(first, 2, 1 + string.byte(first))
  reply[#reply + 1] = name
  reply[#reply + 1] = count(name, SCHEDULED) + count(name, WAITING)
  reply[#reply + 1] = count(name, SCHEDULED, now) + count(name, WAITING, now)
  reply[#reply + 1] = count(name, RUNNING)
  reply[#reply + 1] = count(name, DEAD)
  first = call('ZRANGEBYLEX', INDEX, '(' .. section(name, '\255'), '+', 'LIMIT', 0, 1)[1]
end
return reply

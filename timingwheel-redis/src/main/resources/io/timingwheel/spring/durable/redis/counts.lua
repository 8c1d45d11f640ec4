-- Counts the tasks of each name in INDEX, without reading the tasks.
-- ARGV: offset
-- Returns, for each name: name, pending, overdue, running, dead

local function count(name, letter, up_to)
  local start = section(name, letter)
  local last = start .. (up_to and struct.pack('>I8', up_to + 1) or '\255')
  return call('ZLEXCOUNT', INDEX, '[' .. start, '(' .. last)
end

local function count_pending(name, up_to)
  local pending = 0
  for _, letter in ipairs({ SCHEDULED, WAITING, 'S', 'W' }) do
    pending = pending + count(name, letter, up_to)
  end
  return pending
end

local reply = {}
local first = call('ZRANGEBYLEX', INDEX, '-', '+', 'LIMIT', 0, 1)[1]
while first do
  local name = sub(first, 2, 1 + string.byte(first))
  reply[#reply + 1] = name
  reply[#reply + 1] = count_pending(name)
  reply[#reply + 1] = count_pending(name, now)
  reply[#reply + 1] = count(name, RUNNING) + count(name, 'R')
  reply[#reply + 1] = count(name, DEAD)
  first = call('ZRANGEBYLEX', INDEX, '(' .. section(name, '\255'), '+', 'LIMIT', 0, 1)[1]
end
return reply

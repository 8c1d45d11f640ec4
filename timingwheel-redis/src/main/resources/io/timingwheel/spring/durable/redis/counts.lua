-- Counts the tasks of each name in INDEX, or of some names.
-- ARGV: clock, names...
-- Returns, for each name: name, pending, overdue, running, dead
local reply = {}

local function add(name)
  local pending, overdue = 0, count(name, SCHEDULED, now) + count(name, SUSPECT[SCHEDULED], now)
  for _, letter in ipairs({ SCHEDULED, LEASED, SUSPECT[SCHEDULED], SUSPECT[LEASED] }) do
    pending = pending + count(name, letter)
  end
  for _, task in ipairs(leased_tasks(name)) do
    overdue = overdue + (task.due <= now and 1 or 0)
  end
  append(reply, name, pending, overdue)
  append(reply, count(name, RUNNING), count(name, DEAD))
end

if not ARGV[2] then
  for_each_name(add)
end
for i = 2, #ARGV do
  add(ARGV[i])
end
return reply

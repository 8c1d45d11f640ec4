-- Reads the pending tasks of a name that are due first, or the dead tasks that died last.
-- ARGV: offset, 'pending' or 'dead', name, limit (of each section: the caller sorts the tasks and takes the first)
-- Returns: tasks...
local from_the_end = ARGV[2] == 'dead'
local found = {}
for _, letter in ipairs(from_the_end and { DEAD } or { SCHEDULED, WAITING, 'S', 'W' }) do
  for _, one in ipairs(entries(ARGV[3], letter, ARGV[4], from_the_end)) do
    found[#found + 1] = one
  end
end
local reply = {}
for i, task in ipairs(load_entries(found, #found)) do
  reply[i] = stored_task(task)
end
return reply

-- needs: model, entries, load_entries, has
-- Reads dead tasks of a name in the order in which they died.
-- ARGV: offset, name, '1' to begin with the task that died last, limit, then optionally: time and id of the task to go
-- on after
-- Returns: tasks..., each as a list of id, time of death and error
local bound = ARGV[5] and packed_as('>I8', tonumber(ARGV[5])) .. ARGV[6]
local reply = {}
for i, task in ipairs(load_entries(entries(ARGV[2], DEAD, ARGV[4], ARGV[3] == '1', bound), math.huge)) do
  reply[i] = { task.id, task.at, has(task, FAILED) and task.error or false }
end
return reply

-- needs: model, entries, pending_letters, precedes, load_entries, stored_task
-- Reads the pending tasks of a name in the order in which they are due.
-- ARGV: offset, name, limit, then optionally: due time and id of the task to go on after
-- Returns: tasks...
local bound = ARGV[4] and packed_as('>I8', tonumber(ARGV[4])) .. ARGV[5]
local found = {}
for _, letter in ipairs(PENDING_LETTERS) do
  for _, one in ipairs(entries(ARGV[2], letter, ARGV[3], false, bound)) do
    found[#found + 1] = one
  end
end
table.sort(found, function(one, other)
  return one.at < other.at or one.at == other.at and precedes(one.id, other.id)
end)
local reply = {}
for i, task in ipairs(load_entries(found, tonumber(ARGV[3]))) do
  reply[i] = stored_task(task)
end
return reply

-- needs: writes
local function write_additions()
  local members, fields = {}, {}
  for _, bytes in ipairs(added) do
    members[#members + 1] = '0'
    members[#members + 1] = bytes
  end
  for field, id in pairs(holders) do
    if id then
      fields[#fields + 1] = field
      fields[#fields + 1] = id
    end
  end
  write('HSET', TASKS, stored)
  write('ZADD', INDEX, members)
  write('HSET', HOLDERS, fields)
end

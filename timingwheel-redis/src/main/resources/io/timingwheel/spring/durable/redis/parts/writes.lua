-- needs: model
-- The writes of this script. The script makes them at its end, in few calls.
local stored, deleted = {}, {} -- TASKS: fields, each with its value; fields
local added, removed = {}, {} -- INDEX: members
local holders = {} -- HOLDERS: id by field, false to delete the field

local function write(command, key, arguments)
  for from = 1, #arguments, 2000 do -- unpack has a limit of some thousand values; an even step keeps pairs together
    call(command, key, unpack(arguments, from, math.min(#arguments, from + 1999)))
  end
end

local function write_deletions()
  local fields = {}
  for field, id in pairs(holders) do
    if not id then
      fields[#fields + 1] = field
    end
  end
  write('ZREM', INDEX, removed)
  write('HDEL', TASKS, deleted)
  write('HDEL', HOLDERS, fields)
end

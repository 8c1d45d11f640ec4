-- needs: model, layout, has
local function unpacked(id, packed, head)
  local state, flags, fence, at, due, attempt, deliveries, lost, name, key, error, tail
  if head then
    local stored_error -- the head has a newer one
    state, flags, fence, at, due, attempt, deliveries, lost, error = unpacked_as(HEAD, head)
    name, key, stored_error, tail = unpacked_as(FROM_NAME, packed, NAME_AT)
  else
    state, flags, fence, at, due, attempt, deliveries, lost, name, key, error, tail = unpacked_as(LAYOUT, packed)
  end
  -- A table that is made with all its fields does not grow.
  local task = { id = id, packed = packed, has_head = head and true, state = state, flags = flags, fence = fence,
    at = at, due = due, attempt = attempt, deliveries = deliveries, lost = lost, name = name, key = key, error = error,
    tail = tail }
  if has(task, TRACED) then
    task.trace, task.tail = unpacked_as('Bc0', packed, task.tail)
  end
  if has(task, RECURRING) then
    task.schedule, task.scheduled, task.tail = unpacked_as(SCHEDULE, packed, task.tail)
  end
  return task
end

-- The tasks that this script has read, by id.
local read = {}

local function load(ids)
  for from = 1, #ids, 500 do -- unpack has a limit of some thousand values
    local fields = {}
    for i = from, math.min(#ids, from + 499) do
      fields[#fields + 1] = ids[i]
      fields[#fields + 1] = head_field(ids[i])
    end
    local values = call('HMGET', TASKS, unpack(fields))
    for i = 1, #values, 2 do
      read[fields[i]] = values[i] and unpacked(fields[i], values[i], values[i + 1]) or nil
    end
  end
end

-- needs: writes, layout, append_members
local function store_head(task)
  stored[#stored + 1] = head_field(task.id)
  stored[#stored + 1] = packed_as(HEAD, task.state, task.flags, task.fence, task.at, task.due, task.attempt,
      task.deliveries, task.lost, #task.error, task.error)
end

-- Takes a task out of INDEX before its state, at, due or SUSPECT changes.
local function take_out(task)
  append_members(task, removed)
  if has(task, UNTOUCHED) then
    task.flags = task.flags - UNTOUCHED
  end
end

-- Puts a task that has changed back into INDEX, with this state and time.
local function put_in(task, state, at)
  task.state, task.at = state, at
  append_members(task, added)
  store_head(task)
end

-- needs: writes, layout, payload
-- Stores a task with its payload.
local function store_whole(task)
  stored[#stored + 1] = task.id
  stored[#stored + 1] = packed_as(LAYOUT, task.state, task.flags, task.fence, task.at, task.due, task.attempt,
      task.deliveries, task.lost, #task.name, task.name, #task.key, task.key, #task.error, task.error)
      .. (task.trace and packed_as('Bc0', #task.trace, task.trace) or '')
      .. (task.schedule and packed_as(SCHEDULE, #task.schedule, task.schedule, task.scheduled) or '') .. payload(task)
end

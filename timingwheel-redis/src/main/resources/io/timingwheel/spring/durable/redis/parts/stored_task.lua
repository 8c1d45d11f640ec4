-- needs: key_of
-- A task for ScriptReply.storedTask.
local function stored_task(task)
  return { task.id, task.name, key_of(task), task.due, task.state, task.attempt, task.deliveries,
    has(task, FAILED) and task.error or false, task.at, task.schedule or false, task.scheduled or 0 }
end

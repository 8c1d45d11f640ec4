-- needs: key_of, payload
-- A task for ScriptReply.leasedTask. found_at is the time in INDEX before the claim.
local function leased_task(task, found_at, max_payload)
  local text, suspect = payload(task), has(task, SUSPECT)
  local has_begun = task.state == RUNNING and not suspect
  return { task.id, task.fence, task.name, key_of(task), #text <= max_payload and text, task.trace or false, task.due,
    has_begun and 1 or 0, task.attempt, task.deliveries, task.lost, suspect and 1 or 0, found_at,
    task.schedule or false, task.scheduled or 0 }
end

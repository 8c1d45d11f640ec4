-- needs: holder, is_pending, holder_field, schedule_field, delete, change, set
-- Makes a task scheduled again, with its key. If a newer pending task has the key, deletes the task and returns false.
local function schedule_again(task, due, suspect)
  if has(task, KEYED) and not is_pending(task) and holder(holder_field(task)) then
    delete(task)
    return false
  end
  take_out(task)
  task.due = due
  set(task, SUSPECT, suspect)
  set(task, ALONE, false)
  put_in(task, SCHEDULED, due)
  if has(task, KEYED) then
    holders[holder_field(task)] = task.id
  elseif has(task, RECURRING) then
    holders[schedule_field(holder_field(task))] = task.id
  end
  return true
end

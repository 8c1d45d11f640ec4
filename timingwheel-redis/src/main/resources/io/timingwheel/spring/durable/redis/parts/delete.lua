-- needs: load, writes, layout, append_members, give_up_key, holder_field, schedule_field
local function delete(task)
  give_up_key(task)
  if has(task, RECURRING) then
    holders[schedule_field(holder_field(task))] = false
  end
  append_members(task, removed)
  read[task.id] = nil
  deleted[#deleted + 1] = task.id
  if task.has_head then
    deleted[#deleted + 1] = head_field(task.id)
  end
end

-- Whether a task has a flag.
local function has(task, flag)
  return task.flags % (2 * flag) >= flag
end

-- needs: has
-- Sets a flag of a task, or removes it if the value is false.
local function set(task, flag, value)
  if has(task, flag) ~= value then
    task.flags = task.flags + (value and flag or -flag)
  end
end

-- needs: load_arguments
-- Calls transition(task, i, gone) for each task in ARGV, and returns the replies. The arguments of the first task begin
-- at ARGV[from]. Each task has width arguments: id, fence, and others. The task is nil if it is gone or has another
-- fence.
local function for_each(from, width, transition)
  local replies = {}
  load_arguments(from, width)
  for i = from, #ARGV, width do
    local task = read[ARGV[i]]
    local fenced = task and task.fence == tonumber(ARGV[i + 1])
    replies[#replies + 1] = transition(fenced and task or nil, i, not task)
  end
  return replies
end

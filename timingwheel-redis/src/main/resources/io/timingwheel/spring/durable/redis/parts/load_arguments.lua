-- needs: load
-- Loads the tasks in ARGV, and returns their ids. The arguments of the first task begin at ARGV[from] with its id. Each
-- task has width arguments.
local function load_arguments(from, width)
  local ids = {}
  for i = from, #ARGV, width do
    ids[#ids + 1] = ARGV[i]
  end
  load(ids)
  return ids
end

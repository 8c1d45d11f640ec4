-- needs: load, writes, append_members, store_whole
local function insert(task)
  read[task.id] = task
  append_members(task, added)
  store_whole(task)
end

-- needs: model, clock, count, all_names, pending_letters
-- Counts the tasks of each name in INDEX, or of some names, without reading the tasks.
-- ARGV: offset, names...
-- Returns, for each name: name, pending, overdue, running, dead

local function count_pending(name, up_to)
  local pending = 0
  for _, letter in ipairs(PENDING_LETTERS) do
    pending = pending + count(name, letter, up_to)
  end
  return pending
end

local reply = {}
local function add(name)
  reply[#reply + 1] = name
  reply[#reply + 1] = count_pending(name)
  reply[#reply + 1] = count_pending(name, now)
  reply[#reply + 1] = count(name, RUNNING) + count(name, 'R')
  reply[#reply + 1] = count(name, DEAD)
end

if ARGV[2] then
  for i = 2, #ARGV do
    -- No task has a longer name: its length is one byte of the index.
    if #ARGV[i] < 256 then
      add(ARGV[i])
    end
  end
else
  for_each_name(add)
end
return reply

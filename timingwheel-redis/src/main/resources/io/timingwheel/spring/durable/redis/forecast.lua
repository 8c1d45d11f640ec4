-- Counts how many pending tasks of some names fall due in equal spans of the time ahead.
-- ARGV: clock, when the first span begins, length of a span, number of spans, names...
-- Returns: for each name, the name and the counts of its spans
local from, span, spans = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local counts, reply = {}, {}

local function add(time, tasks)
  local i = math.floor((time - from) / span) + 1
  if i >= 1 and i <= spans then
    counts[i] = counts[i] + tasks
  end
end

-- Adds the tasks of a section with due times. Few entries are read, many are counted by their positions.
local function add_section(name, letter)
  local up_to = count(name, letter, from - 1)
  local total = count(name, letter, from + span * spans - 1) - up_to
  if total <= spans then
    for _, one in ipairs(total > 0 and entries(name, letter, total, index_time(from)) or {}) do
      add(one.at, 1)
    end
    return
  end
  for i = 1, spans do
    local next_up_to = count(name, letter, from + span * i - 1)
    add(from + span * (i - 1), next_up_to - up_to)
    up_to = next_up_to
  end
end

for n = 5, #ARGV do
  counts = {}
  for i = 1, spans do
    counts[i] = 0
  end
  add_section(ARGV[n], SCHEDULED)
  add_section(ARGV[n], SUSPECT[SCHEDULED])
  for_each_leased(ARGV[n], function(task) add(task.due, 1) end)
  append(reply, ARGV[n], counts)
end
return reply

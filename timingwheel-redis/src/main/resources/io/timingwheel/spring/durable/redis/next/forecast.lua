-- Counts how many pending tasks of some names fall due in equal spans of the time ahead.
-- ARGV: clock, when the first span begins, length of a span, number of spans, names...
-- Returns: for each name, the counts of its spans
local from, span, spans = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local reply = {}

-- Adds the counts of a section with due times. Few entries are read, many are counted by their positions.
local function add(counts, name, letter)
  local up_to = count(name, letter, from - 1)
  local total = count(name, letter, from + span * spans - 1) - up_to
  if total <= spans then
    for _, one in ipairs(total > 0 and entries(name, letter, total, time_in_index(from)) or {}) do
      counts[math.floor((one.at - from) / span) + 1] = counts[math.floor((one.at - from) / span) + 1] + 1
    end
    return
  end
  for i = 1, spans do
    local next_up_to = count(name, letter, from + span * i - 1)
    counts[i] = counts[i] + next_up_to - up_to
    up_to = next_up_to
  end
end

for n = 5, #ARGV do
  local counts = {}
  for i = 1, spans do
    counts[i] = 0
  end
  add(counts, ARGV[n], SCHEDULED)
  add(counts, ARGV[n], SUSPECT[SCHEDULED])
  for _, task in ipairs(leased_tasks(ARGV[n])) do
    local i = math.floor((task.due - from) / span) + 1
    if i >= 1 and i <= spans then
      counts[i] = counts[i] + 1
    end
  end
  for i = 1, spans do
    reply[#reply + 1] = counts[i]
  end
end
return reply

-- Counts how many pending tasks of some names fall due in equal spans of the time ahead.
-- ARGV: clock, when the first span begins, length of a span, number of spans, names...
-- Returns: for each name, the name and the counts of its spans
local from, span, spans = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local counts, reply = {}, {}

-- Counts a section with due times by the positions of its entries.
local function add_section(name, letter)
  local up_to = count(name, letter, from - 1)
  for i = 1, count(name, letter) > 0 and spans or 0 do
    local next_up_to = count(name, letter, from + span * i - 1)
    counts[i], up_to = counts[i] + next_up_to - up_to, next_up_to
  end
end

for n = 5, #ARGV do
  counts = {}
  for i = 1, spans do
    counts[i] = 0
  end
  add_section(ARGV[n], SCHEDULED)
  add_section(ARGV[n], SUSPECT[SCHEDULED])
  for _, task in ipairs(leased_tasks(ARGV[n])) do
    local i = math.floor((task.due - from) / span) + 1
    counts[i] = counts[i] and counts[i] + 1
  end
  append(reply, ARGV[n], counts)
end
return reply

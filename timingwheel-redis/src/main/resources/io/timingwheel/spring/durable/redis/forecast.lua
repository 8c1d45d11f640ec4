-- needs: model, count, entries, pending_letters
-- Counts how many pending tasks of some names fall due in equal spans of the time ahead.
-- ARGV: offset, when the first span begins, length of a span, number of spans, names...
-- Returns: for each name, the counts of its spans
local from, span, spans = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local last = from + span * spans - 1

-- Adds the counts of a section. Few entries are read, many are counted by their positions.
local function add(counts, name, letter)
  local up_to = count(name, letter, from - 1)
  local total = count(name, letter, last) - up_to
  if total == 0 then
    return
  end
  if total <= spans then
    for _, one in ipairs(entries(name, letter, total, false, packed_as('>I8', from))) do
      local i = math.floor((one.at - from) / span) + 1
      counts[i] = (counts[i] or 0) + 1
    end
    return
  end
  for i = 1, spans do
    local next_up_to = count(name, letter, from + span * i - 1)
    counts[i] = counts[i] + next_up_to - up_to
    up_to = next_up_to
  end
end

local reply = {}
for i = 5, #ARGV do
  local counts = {}
  for j = 1, spans do
    counts[j] = 0
  end
  for _, letter in ipairs(PENDING_LETTERS) do
    add(counts, ARGV[i], letter)
  end
  for j = 1, spans do
    reply[#reply + 1] = counts[j]
  end
end
return reply

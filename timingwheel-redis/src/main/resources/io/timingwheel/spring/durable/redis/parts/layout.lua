-- State, flags, fence, at, due, attempt, deliveries, lost, name, key, error. After them comes the trace, if the task
-- is TRACED: its length in one byte, the trace; then the schedule, if it is RECURRING. The payload comes last.
local LAYOUT = '>c1BI8I8I8I4I4I4Bc0Hc0Hc0'
local NAME_AT = 39 -- where the length of the name is
local FROM_NAME = '>Bc0Hc0Hc0' -- the part of LAYOUT from there

local SCHEDULE = '>Bc0I8' -- length of the schedule, schedule, time

-- State, flags, fence, at, due, attempt, deliveries, lost, error.
local HEAD = '>c1BI8I8I8I4I4I4Hc0'
local BEGINNING = '>c1BI8I8I8' -- the first fields of LAYOUT and of HEAD, up to due

-- The field of TASKS for the head of a task.
local function head_field(id)
  return '+' .. id
end
